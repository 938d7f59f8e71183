import { Checkbox, Group, NumberInput, SimpleGrid, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useNavigate } from '@tanstack/react-router'
import { useApiChange } from '../../api/use-api.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import { transformationNames, type Transformation } from './red-team-texts.ts'

interface Values {
  agent: string
  url: string
  model: string
  transformations: Transformation[]
  limit: number | ''
  concurrency: number | ''
  budgetUsd: number | ''
  seed: string
}

const empty: Values = {
  agent: '',
  url: '',
  model: '',
  transformations: ['plain'],
  limit: 200,
  concurrency: 4,
  budgetUsd: '',
  seed: '',
}

/** Starts a run against a chat-completions endpoint. scripts/redteam attacks other targets. */
export function StartAttack({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const navigate = useNavigate()
  const start = useApiChange('POST /api/redteam-runs', ['GET /api/redteam-runs'])
  const form = useForm<Values>({
    ...usePersistedValues(`attack.${projectId}`, empty),
    validate: {
      agent: (agent) => (agent.trim() === '' ? 'Enter an agent' : null),
      url: (url) => (URL.canParse(url) ? null : 'Enter a URL'),
      transformations: (chosen) => (chosen.length > 0 ? null : 'Choose at least one'),
    },
  })
  const watch = ({ id }: { id: string }) => {
    onClose()
    void navigate({ to: `/runs/${id}` })
  }
  const submit = form.onSubmit((values) =>
    start.mutate({ body: bodyOf(projectId, values) }, { onSuccess: watch }),
  )
  return (
    <FormModal
      title="Attack an agent"
      onClose={onClose}
      onSubmit={submit}
      error={start.error}
      isPending={start.isPending}
      submit="Attack"
      color="red"
    >
      <TextInput label="Agent" data-autofocus {...form.getInputProps('agent')} />
      <TextInput
        label="Chat-completions URL"
        description="Its host must be listed in REDTEAM_ALLOWED_HOSTS"
        placeholder="http://127.0.0.1:8080/v1/chat/completions"
        {...form.getInputProps('url')}
      />
      <TextInput label="Model" description="Empty: the target's own" {...form.getInputProps('model')} />
      <Transformations form={form} />
      <Bounds form={form} />
    </FormModal>
  )
}

function Transformations({ form }: { form: UseFormReturnType<Values> }) {
  return (
    <Checkbox.Group
      label="Transformations"
      description="Each attack is sent once per transformation. Adaptive needs REDTEAM_ATTACKER_URL"
      {...form.getInputProps('transformations')}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={6} mt={4}>
        {Object.entries(transformationNames).map(([value, label]) => (
          <Checkbox key={value} size="xs" value={value} label={label} />
        ))}
      </SimpleGrid>
    </Checkbox.Group>
  )
}

/** Limits on number, rate and cost, and the seed that selects the same attacks again. */
function Bounds({ form }: { form: UseFormReturnType<Values> }) {
  return (
    <>
      <Group grow>
        <NumberInput label="Maximum attacks" min={1} allowDecimal={false} {...form.getInputProps('limit')} />
        <NumberInput
          label="Concurrency"
          min={1}
          allowDecimal={false}
          {...form.getInputProps('concurrency')}
        />
      </Group>
      <Group grow>
        <NumberInput label="Budget, USD" placeholder="None" min={0} {...form.getInputProps('budgetUsd')} />
        <TextInput
          label="Seed"
          description="The same seed, the same attacks"
          placeholder="1"
          {...form.getInputProps('seed')}
        />
      </Group>
    </>
  )
}

function bodyOf(projectId: string, values: Values) {
  const { agent, url, model, transformations, limit, concurrency, budgetUsd, seed } = values
  return {
    project_id: projectId,
    agent_name: agent,
    target: { kind: 'chat' as const, url, ...(model === '' ? {} : { model }) },
    options: {
      transformations,
      ...(limit === '' ? {} : { limit }),
      ...(concurrency === '' ? {} : { concurrency }),
    },
    ...(budgetUsd === '' ? {} : { budget_usd: budgetUsd }),
    ...(seed === '' ? {} : { seed }),
  }
}

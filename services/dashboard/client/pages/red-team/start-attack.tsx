import {
  Button,
  Checkbox,
  Group,
  NumberInput,
  SegmentedControl,
  SimpleGrid,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { useNavigate } from '@tanstack/react-router'
import { useApiChange } from '../../api/use-api.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import { emptyAttack, headersOf, orderOf, type AttackValues } from './attack-values.ts'
import { transformationNames } from './red-team-texts.ts'

type AttackForm = UseFormReturnType<AttackValues>

/** Starts a run against an endpoint. scripts/redteam attacks other targets. */
export function StartAttack({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const navigate = useNavigate()
  const start = useApiChange('POST /api/redteam-runs', ['GET /api/redteam-runs'])
  const form = useForm<AttackValues>({
    ...usePersistedValues(`attack.${projectId}`, emptyAttack),
    validate: {
      agent: (agent) => (agent.trim() === '' ? 'Enter an agent' : null),
      url: (url) => (URL.canParse(url) ? null : 'Enter a URL'),
      headers: (headers) => (headersOf(headers) === undefined ? 'One “Name: value” a line' : null),
      template: (template, { kind }) =>
        kind === 'chat' || template.includes('{{prompt}}') ? null : 'Must contain {{prompt}}',
      transformations: (chosen) => (chosen.length > 0 ? null : 'Choose at least one'),
    },
  })
  const watch = ({ id }: { id: string }) => {
    onClose()
    void navigate({ to: `/runs/${id}` })
  }
  const send = (isTrial: boolean) =>
    form.onSubmit((values) =>
      start.mutate({ body: orderOf(projectId, values, isTrial) }, { onSuccess: watch }),
    )
  return (
    <FormModal
      title="Attack an agent"
      onClose={onClose}
      onSubmit={send(false)}
      error={start.error}
      isPending={start.isPending}
      submit="Attack"
      color="red"
      beside={
        <Button variant="default" loading={start.isPending} onClick={() => send(true)()}>
          Try one call
        </Button>
      }
    >
      <TextInput label="Agent" data-autofocus {...form.getInputProps('agent')} />
      <Target form={form} />
      <TagsInput
        label="Probes"
        description="Ids, beginnings of ids, categories like LLM01, or scorers"
        placeholder={form.values.probes.length === 0 ? 'All' : ''}
        {...form.getInputProps('probes')}
      />
      <Transformations form={form} />
      <Bounds form={form} />
    </FormModal>
  )
}

/** A chat-completions endpoint, or any JSON endpoint by a template. */
function Target({ form }: { form: AttackForm }) {
  const isChat = form.values.kind === 'chat'
  return (
    <>
      <SegmentedControl
        aria-label="Kind of target"
        data={[
          { value: 'chat', label: 'Chat completions' },
          { value: 'http', label: 'Other JSON' },
        ]}
        {...form.getInputProps('kind')}
      />
      <TextInput
        label={isChat ? 'Chat-completions URL' : 'URL'}
        description="Its host must be listed in REDTEAM_ALLOWED_HOSTS. Its key is in REDTEAM_TARGET_KEYS and is not stored"
        placeholder="http://127.0.0.1:8080/v1/chat/completions"
        {...form.getInputProps('url')}
      />
      {isChat ? (
        <TextInput label="Model" description="Empty: the target's own" {...form.getInputProps('model')} />
      ) : (
        <>
          <Textarea
            label="Headers"
            description="One a line; {{key}} stands for the key of the host"
            autosize
            {...form.getInputProps('headers')}
          />
          <Textarea
            label="Body"
            description="JSON; {{prompt}} stands for what is said, {{session}} for the conversation"
            autosize
            {...form.getInputProps('template')}
          />
          <TextInput
            label="Answer"
            description="JSON pointer to the text of the answer"
            {...form.getInputProps('answer')}
          />
        </>
      )}
    </>
  )
}

function Transformations({ form }: { form: AttackForm }) {
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
function Bounds({ form }: { form: AttackForm }) {
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

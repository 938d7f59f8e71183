import { Button, Group, Modal, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import type { ApiError } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { Failure, Loaded } from '../../parts/page-states.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import { ScorerPreview } from './scorer-preview.tsx'
import {
  definitionOf,
  fieldOfPath,
  kindNames,
  valuesOf,
  type ProjectScorer,
  type ScorerValues,
} from './scorer-texts.ts'

interface FormProps {
  projectId: string
  /** Absent: a new one. */
  scorer: ProjectScorer | undefined
  onClose: () => void
}

/** Reads a scorer of the project, then shows its form. */
export function EditScorer({
  projectId,
  id,
  onClose,
}: {
  projectId: string
  id: string
  onClose: () => void
}) {
  const query = useApi('GET /api/scorers/{id}', { params: { id }, query: { project_id: projectId } })
  return (
    <Loaded query={query}>
      {(scorer) => <ScorerForm projectId={projectId} scorer={scorer} onClose={onClose} />}
    </Loaded>
  )
}

/** The form of a new or existing scorer of the project, with its preview. */
export function ScorerForm({ projectId, scorer, onClose }: FormProps) {
  const form = useForm<ScorerValues>({
    ...usePersistedValues(`scorer.${projectId}.${scorer?.id ?? 'new'}`, valuesOf(scorer)),
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name' : null) },
  })
  const save = useSave(projectId, scorer, onClose)
  const showErrors = ({ errors }: ApiError) =>
    form.setErrors(
      Object.fromEntries(errors.flatMap(({ path, message }) => [[fieldOfPath(path) ?? '', message]])),
    )
  return (
    <Modal opened onClose={onClose} size="xl" title={scorer === undefined ? 'Add scorer' : 'Edit scorer'}>
      <form onSubmit={form.onSubmit((values) => save.run(values, showErrors))}>
        <Stack>
          <TextInput
            label="Name"
            data-autofocus
            disabled={scorer !== undefined}
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Description"
            description="In the rationale of every call that it finds"
            {...form.getInputProps('description')}
          />
          <Group grow>
            <Select
              label="Kind"
              allowDeselect={false}
              disabled={scorer !== undefined}
              data={(['keyword_list', 'regex', 'criterion'] as const).map((value) => ({
                value,
                label: kindNames[value],
              }))}
              {...form.getInputProps('kind')}
            />
            <Select
              label="Severity"
              allowDeselect={false}
              data={['medium', 'high', 'critical']}
              {...form.getInputProps('severity')}
            />
          </Group>
          {form.values.kind === 'criterion' ? <CriterionFields form={form} /> : <TermFields form={form} />}
          <ScorerPreview
            projectId={projectId}
            definitionOf={() => definitionOf(form.getValues(), scorer?.definition)}
            onError={showErrors}
          />
          {save.error === null ? null : <Failure error={save.error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

type ScorerFormType = UseFormReturnType<ScorerValues>

function TermFields({ form }: { form: ScorerFormType }) {
  const isRegex = form.values.kind === 'regex'
  return (
    <>
      <Textarea
        label={isRegex ? 'Patterns' : 'Keywords'}
        description={isRegex ? 'RE2 syntax, one a line' : 'In any case, one a line'}
        autosize
        minRows={3}
        maxRows={12}
        {...form.getInputProps('terms')}
      />
      <Select
        label="Search in"
        allowDeselect={false}
        data={[
          { value: 'both', label: 'Request and answer' },
          { value: 'request_body', label: 'Request' },
          { value: 'response_body', label: 'Answer' },
          { value: 'tool_arguments', label: 'Arguments of tools' },
        ]}
        {...form.getInputProps('matchOn')}
      />
    </>
  )
}

function CriterionFields({ form }: { form: ScorerFormType }) {
  const lines = { autosize: true, minRows: 2, maxRows: 8 }
  return (
    <>
      <Textarea
        label="Criterion"
        description="A sentence that is true of the calls to be found"
        {...lines}
        {...form.getInputProps('criterion')}
      />
      <Textarea
        label="Examples that meet it"
        description="One a line, at most ten"
        {...lines}
        {...form.getInputProps('unsafe')}
      />
      <Textarea
        label="Examples that look alike and do not"
        description="One a line, at most ten"
        {...lines}
        {...form.getInputProps('safe')}
      />
    </>
  )
}

function useSave(projectId: string, scorer: ProjectScorer | undefined, onClose: () => void) {
  const create = useApiChange('POST /api/scorers', ['GET /api/scorers'])
  const change = useApiChange('PATCH /api/scorers/{id}', ['GET /api/scorers', 'GET /api/scorers/{id}'])
  const query = { project_id: projectId }
  return {
    isPending: create.isPending || change.isPending,
    error: create.error ?? change.error,
    run(values: ScorerValues, onError: (error: ApiError) => void) {
      const body = {
        severity: values.severity,
        description: values.description.trim() === '' ? null : values.description,
        definition: definitionOf(values, scorer?.definition),
      }
      const then = { onSuccess: onClose, onError }
      if (scorer === undefined) create.mutate({ query, body: { ...body, name: values.name } }, then)
      else change.mutate({ params: { id: scorer.id }, query, body }, then)
    },
  }
}

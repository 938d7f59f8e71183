import { Button, Group, Modal, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { isNotEmpty, useForm, type UseFormReturnType } from '@mantine/form'
import type { ApiError } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { Failure } from '../../parts/page-states.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import { FilterFields } from './filter-fields.tsx'
import { NumberFields } from './number-fields.tsx'
import { RuleDryRun } from './rule-dry-run.tsx'
import {
  bodyOf,
  errorsByField,
  metricWords,
  valuesOf,
  type AlertRule,
  type RuleValues,
} from './rule-texts.ts'

interface RuleFormProps {
  projectId: string
  /** Absent: a new one. */
  rule: AlertRule | undefined
  onClose: () => void
}

/** The form of a new or existing rule, with what it would have done. */
export function RuleForm({ projectId, rule, onClose }: RuleFormProps) {
  const form = useForm<RuleValues>({
    ...usePersistedValues(`alert-rule.${projectId}.${rule?.id ?? 'new'}`, valuesOf(rule)),
    validate: {
      name: isNotEmpty('Enter a name'),
      window: isNotEmpty('Enter 5 to 1,440 minutes'),
      alert: isNotEmpty('Enter the threshold'),
    },
  })
  const query = { project_id: projectId }
  const preview = useApiChange('POST /api/alert-rules/preview', [])
  const save = useSave(projectId, rule, onClose)
  const onError = ({ errors }: ApiError) => form.setErrors(errorsByField(errors))
  const tryIt = () => {
    // A rule can be tried before it has a name.
    const faults = (['window', 'alert'] as const).map((field) => form.validateField(field).hasError)
    if (!faults.includes(true)) preview.mutate({ query, body: bodyOf(form.getValues()) }, { onError })
  }
  const error = save.error ?? preview.error
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={rule === undefined ? 'New alert rule' : 'Edit alert rule'}
    >
      <form onSubmit={form.onSubmit((values) => save.run(values, onError))}>
        <Stack>
          <TextInput label="Name" maxLength={200} data-autofocus {...form.getInputProps('name')} />
          <RuleFields projectId={projectId} form={form} />
          {error === null ? null : <Failure error={error} />}
          {!preview.isSuccess ? null : (
            <RuleDryRun run={preview.data} metric={preview.variables.body.metric} />
          )}
          <Group justify="flex-end">
            <Button variant="default" loading={preview.isPending} onClick={tryIt}>
              Try on the last 30 days
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function RuleFields({ projectId, form }: { projectId: string; form: UseFormReturnType<RuleValues> }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Select
        label="Metric"
        data={Object.entries(metricWords).map(([value, label]) => ({ value, label }))}
        allowDeselect={false}
        {...form.getInputProps('metric')}
      />
      <Select
        label="Against"
        data={[
          { value: 'none', label: 'A fixed value' },
          { value: 'last_week', label: 'The same time last week' },
        ]}
        allowDeselect={false}
        {...form.getInputProps('compare')}
      />
      <FilterFields projectId={projectId} form={form} />
      <NumberFields form={form} />
    </SimpleGrid>
  )
}

function useSave(projectId: string, rule: AlertRule | undefined, onClose: () => void) {
  const create = useApiChange('POST /api/alert-rules', ['GET /api/alert-rules'])
  const change = useApiChange('PATCH /api/alert-rules/{id}', ['GET /api/alert-rules'])
  const query = { project_id: projectId }
  return {
    isPending: create.isPending || change.isPending,
    error: create.error ?? change.error,
    run(values: RuleValues, onError: (error: ApiError) => void) {
      const body = { ...bodyOf(values), name: values.name.trim() }
      const then = { onSuccess: onClose, onError }
      if (rule === undefined) create.mutate({ query, body }, then)
      else change.mutate({ params: { id: rule.id }, query, body }, then)
    },
  }
}

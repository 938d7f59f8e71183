import { Checkbox, MultiSelect, NumberInput, Select, Stack, TagsInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import type { ApiError } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import { useScorerNames } from '../../parts/use-scorer-names.ts'
import { ExpressionField } from '../webhooks/expression-field.tsx'
import { eventNames, severities } from '../webhooks/webhook-texts.ts'
import {
  bodyOf,
  errorsByField,
  valuesOf,
  withoutSecrets,
  type DestinationValues,
} from './destination-values.ts'
import { kindForms, type Destination, type Kind } from './kind-fields.ts'
import { KindInputs } from './kind-inputs.tsx'

interface DestinationFormProps {
  projectId: string
  /** Absent: a new one. */
  destination: Destination | undefined
  onClose: () => void
}

const kinds = Object.entries(kindForms).map(([value, { label }]) => ({ value, label }))

/** The form of a new or existing destination. Its credentials are written and never read. */
export function DestinationForm({ projectId, destination, onClose }: DestinationFormProps) {
  const draft = usePersistedValues(
    `destination.${projectId}.${destination?.id ?? 'new'}`,
    valuesOf(destination),
  )
  const form = useForm<DestinationValues>({
    initialValues: draft.initialValues,
    onValuesChange: (values) => draft.onValuesChange(withoutSecrets(values)),
    validate: {
      events: (events) =>
        destination !== undefined && events.length === 0 ? 'Choose at least one event' : null,
    },
  })
  const save = useSave(projectId, destination, onClose)
  const submit = form.onSubmit((values) =>
    save.run(values, ({ errors }) => form.setErrors(errorsByField(values.kind, errors))),
  )
  return (
    <FormModal
      title={destination === undefined ? 'Add destination' : 'Edit destination'}
      size="lg"
      onClose={onClose}
      onSubmit={submit}
      error={save.error}
      isPending={save.isPending}
      submit="Save"
    >
      <Select
        label="Kind"
        data={kinds}
        allowDeselect={false}
        data-autofocus
        disabled={destination !== undefined}
        value={form.values.kind}
        onChange={(kind) => form.setValues(valuesOf(undefined, kind as Kind))}
      />
      <KindInputs form={form} keepsCredentials={destination?.has_credentials === true} />
      <EventFields projectId={projectId} form={form} isNew={destination === undefined} />
    </FormModal>
  )
}

interface EventFieldsProps {
  projectId: string
  form: UseFormReturnType<DestinationValues>
  isNew: boolean
}

/** Which events are sent, how many, and with what. */
function EventFields({ projectId, form, isNew }: EventFieldsProps) {
  return (
    <>
      <Checkbox.Group
        label="Events"
        description={
          !isNew
            ? undefined
            : kindForms[form.values.kind].isForPeople
              ? 'None chosen: findings and alert rules'
              : 'None chosen: all'
        }
        {...form.getInputProps('events')}
      >
        <Stack gap={6} mt={4}>
          {Object.entries(eventNames).map(([value, label]) => (
            <Checkbox key={value} value={value} label={label} />
          ))}
        </Stack>
      </Checkbox.Group>
      <MultiSelect
        label="Severities"
        description="None: every severity"
        data={[...severities]}
        {...form.getInputProps('severity')}
      />
      <TagsInput
        label="Scorers"
        description="None: every scorer"
        data={useScorerNames(projectId)}
        {...form.getInputProps('scorers')}
      />
      <ExpressionField projectId={projectId} {...form.getInputProps('expression')} />
      <Checkbox
        label="Include masked text of calls"
        {...form.getInputProps('includeText', { type: 'checkbox' })}
      />
      <NumberInput
        label="Events a minute at most"
        description="The others follow in the next minute. Empty: no limit"
        min={1}
        max={6_000}
        allowDecimal={false}
        {...form.getInputProps('maxPerMinute')}
      />
    </>
  )
}

/** Saves, and gives the API's faults back. */
function useSave(projectId: string, destination: Destination | undefined, onClose: () => void) {
  const create = useApiChange('POST /api/v1/destinations', ['GET /api/v1/destinations'])
  const change = useApiChange('PATCH /api/v1/destinations/{id}', ['GET /api/v1/destinations'])
  const query = { project_id: projectId }
  return {
    isPending: create.isPending || change.isPending,
    error: create.error ?? change.error,
    run(values: DestinationValues, onError: (error: ApiError) => void) {
      const body = bodyOf(values)
      const then = { onSuccess: onClose, onError }
      if (destination === undefined) create.mutate({ query, body: { ...body, kind: values.kind } }, then)
      else change.mutate({ params: { id: destination.id }, query, body }, then)
    },
  }
}

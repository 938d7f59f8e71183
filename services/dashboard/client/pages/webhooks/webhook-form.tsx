import { Checkbox, MultiSelect, NumberInput, Stack, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ApiError } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import { useScorerNames } from '../../parts/use-scorer-names.ts'
import { ExpressionField } from './expression-field.tsx'
import { eventNames, severities, type Webhook } from './webhook-texts.ts'

interface WebhookFormProps {
  projectId: string
  /** Absent: a new one. */
  webhook: Webhook | undefined
  onClose: () => void
  onSecret: (secret: string) => void
}

type EventName = keyof typeof eventNames
type Severity = (typeof severities)[number]

interface Values {
  url: string
  events: EventName[]
  severity: Severity[]
  scorers: string[]
  expression: string
  disableAfterHours: number | ''
}

/** The form of a new or existing webhook. */
export function WebhookForm({ projectId, webhook, onClose, onSecret }: WebhookFormProps) {
  const form = useForm<Values>({
    ...usePersistedValues(`webhook.${projectId}.${webhook?.id ?? 'new'}`, valuesOf(webhook)),
    validate: {
      url: (url) => (url.startsWith('http') ? null : 'Enter a URL that starts with https://'),
      events: (events) => (events.length > 0 ? null : 'Choose at least one event'),
    },
  })
  const save = useSave(projectId, webhook, { onClose, onSecret })
  const submit = form.onSubmit((values) => save.run(values, (errors) => form.setErrors(errors)))
  return (
    <FormModal
      title={webhook === undefined ? 'Add webhook' : 'Edit webhook'}
      size="lg"
      onClose={onClose}
      onSubmit={submit}
      error={save.error}
      isPending={save.isPending}
      submit="Save"
    >
      <TextInput
        label="URL"
        description="HTTPS, to a port that the installation allows: 443 or 8443 unless WEBHOOK_PORTS names others"
        placeholder="https://"
        data-autofocus
        {...form.getInputProps('url')}
      />
      <Checkbox.Group label="Events" {...form.getInputProps('events')}>
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
      <NumberInput
        label="Disable after hours of failures"
        description="Empty: never"
        min={1}
        max={720}
        allowDecimal={false}
        {...form.getInputProps('disableAfterHours')}
      />
    </FormModal>
  )
}

function valuesOf(webhook: Webhook | undefined): Values {
  return {
    url: webhook?.url ?? '',
    events: webhook?.events ?? ['threat_detected'],
    severity: webhook?.filters.severity ?? [],
    scorers: webhook?.filters.scorer_name ?? [],
    expression: webhook?.filter_expression ?? '',
    disableAfterHours: webhook?.disable_after_hours ?? '',
  }
}

function bodyOf({ url, events, severity, scorers, expression, disableAfterHours }: Values) {
  return {
    url,
    events,
    filters: { severity, scorer_name: scorers },
    filter_expression: expression.trim() === '' ? null : expression,
    disable_after_hours: disableAfterHours === '' ? null : disableAfterHours,
  }
}

const fieldOfPath: Readonly<Record<string, keyof Values>> = {
  url: 'url',
  events: 'events',
  filter_expression: 'expression',
  disable_after_hours: 'disableAfterHours',
}

/** Saves, and shows the API's field errors at their fields. */
function useSave(
  projectId: string,
  webhook: Webhook | undefined,
  { onClose, onSecret }: Pick<WebhookFormProps, 'onClose' | 'onSecret'>,
) {
  const create = useApiChange('POST /api/v1/webhooks', ['GET /api/v1/webhooks'])
  const change = useApiChange('PATCH /api/v1/webhooks/{id}', ['GET /api/v1/webhooks'])
  const query = { project_id: projectId }
  return {
    isPending: create.isPending || change.isPending,
    error: create.error ?? change.error,
    run(values: Values, showErrors: (errors: Record<string, string>) => void) {
      const onError = (error: ApiError) => showErrors(errorsByField(error))
      const body = bodyOf(values)
      if (webhook !== undefined) {
        change.mutate({ params: { id: webhook.id }, query, body }, { onSuccess: onClose, onError })
        return
      }
      const onSuccess = ({ secret }: { secret: string }) => {
        onSecret(secret)
        onClose()
      }
      create.mutate({ query, body }, { onSuccess, onError })
    },
  }
}

function errorsByField({ errors }: ApiError): Record<string, string> {
  return Object.fromEntries(
    errors.flatMap(({ path, message }) => {
      const field = fieldOfPath[path]
      return field === undefined ? [] : [[field, message]]
    }),
  )
}

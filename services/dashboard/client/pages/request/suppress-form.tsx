import { Button, Checkbox, Select, Text, Textarea } from '@mantine/core'
import { isNotEmpty, useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import type { Input } from '../../api/call-api.ts'
import { useApiChange } from '../../api/use-api.ts'
import { formatCount } from '../../formats/format-number.ts'
import { toVisibleText } from '../../formats/visible-text.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { Failure } from '../../parts/page-states.tsx'
import { usePersistedValues } from '../../parts/use-draft.ts'
import type { Score } from './request-detail.ts'
import { shownByReviews } from './review-form.tsx'

interface SuppressValues {
  /** `all`, `kind <index>` or `value <index>` of the found values. */
  what: string
  ofAgent: boolean
  /** Days until it ends; `''`: until it is revoked. */
  days: string
  reason: string
}

interface SuppressFormProps {
  score: Score
  agentName: string | null
  onClose: () => void
}

const dayMs = 86_400_000
/** A critical score may be suppressed for 90 days at most. */
const endsAfter = [7, 30, 60].map((days) => ({ value: String(days), label: `In ${days} days` }))

/** The form for a suppression of scores like this one, with what it would have covered. */
export function SuppressForm({ score, agentName, onClose }: SuppressFormProps) {
  const { create, suppress } = useSuppress(score, onClose)
  const isCritical = score.severity === 'critical'
  const form = useForm<SuppressValues>({
    ...usePersistedValues<SuppressValues>(`suppression.${score.id}`, {
      what: choicesOf(score)[0]?.value ?? 'all',
      ofAgent: false,
      days: score.severity === 'critical' ? '30' : '',
      reason: '',
    }),
    validate: { reason: isNotEmpty('Say why it is a false alarm') },
  })
  const submit = form.onSubmit((values) =>
    suppress({ ...ruleOf(score, agentName, values), reason: values.reason.trim() }),
  )
  return (
    <FormModal
      title="Mark as a known false alarm"
      onClose={onClose}
      onSubmit={submit}
      error={create.error}
      isPending={create.isPending}
      submit="Suppress"
    >
      <Text size="sm">Nothing is deleted: events are still sent, and say that the score is suppressed.</Text>
      <Select label="Cover" data={choicesOf(score)} allowDeselect={false} {...form.getInputProps('what')} />
      {agentName === null ? null : (
        <Checkbox
          label={`Only calls of ${toVisibleText(agentName)}`}
          {...form.getInputProps('ofAgent', { type: 'checkbox' })}
        />
      )}
      <Select
        label="Ends"
        data={isCritical ? endsAfter : [{ value: '', label: 'When it is revoked' }, ...endsAfter]}
        allowDeselect={false}
        {...form.getInputProps('days')}
      />
      <Textarea label="Reason" autosize minRows={2} maxLength={1_000} {...form.getInputProps('reason')} />
      <DryRun score={score} agentName={agentName} form={form} />
    </FormModal>
  )
}

/** Makes a suppression for later scores, and a review that says it of this one. */
function useSuppress(score: Score, onClose: () => void) {
  const { project_id, request_id, scorer_name } = score
  const create = useApiChange('POST /api/suppressions', ['GET /api/suppressions'])
  const review = useApiChange('POST /api/reviews', shownByReviews)
  const suppress = (body: Input<'POST /api/suppressions'>['body']) =>
    create.mutate(
      { query: { project_id }, body },
      {
        onSuccess: () => {
          const { reason } = body
          review.mutate({ query: { project_id }, body: { request_id, scorer_name, agrees: false, reason } })
          notifications.show({ message: 'This is a false alarm, and scores like it are marked from now on.' })
          onClose()
        },
      },
    )
  return { create, suppress }
}

function DryRun({
  score,
  agentName,
  form,
}: Omit<SuppressFormProps, 'onClose'> & { form: UseFormReturnType<SuppressValues> }) {
  const preview = useApiChange('POST /api/suppressions/preview', [])
  const { data, error } = preview
  const look = () =>
    preview.mutate({
      query: { project_id: score.project_id },
      body: ruleOf(score, agentName, form.getValues()),
    })
  return (
    <>
      <Button variant="default" size="compact-sm" loading={preview.isPending} onClick={look}>
        What would it have covered?
      </Button>
      {error === null ? null : <Failure error={error} />}
      {data === undefined ? null : (
        <Text size="sm" role="status">
          {formatCount(data.covered)} of {formatCount(data.examined)}
          {data.is_complete ? '' : ' newest'} unsafe scores of the last 30 days.
        </Text>
      )}
    </>
  )
}

/** The narrowest first. */
function choicesOf({ scorer_name: scorer, found_values: found }: Score): { value: string; label: string }[] {
  const values = found ?? []
  const where = (tool: string | null) => (tool === null ? '' : ` in ${toVisibleText(tool)}`)
  return [
    ...values.flatMap(({ kind, tool, has_hash: isHashed }, index) =>
      isHashed
        ? [{ value: `value ${index}`, label: `${index + 1}: this ${toVisibleText(kind)}${where(tool)}` }]
        : [],
    ),
    ...values.flatMap(({ kind, tool }, index) =>
      values.findIndex((other) => other.kind === kind && other.tool === tool) === index
        ? [{ value: `kind ${index}`, label: `Every ${toVisibleText(kind)}${where(tool)}` }]
        : [],
    ),
    { value: 'all', label: `Everything that ${toVisibleText(scorer)} finds` },
  ]
}

function ruleOf(score: Score, agentName: string | null, { what, ofAgent, days }: SuppressValues) {
  const [form, place] = what.split(' ')
  const index = Number(place)
  const found = form === 'all' ? undefined : score.found_values?.[index]
  return {
    scorer_name: score.scorer_name,
    max_severity: score.severity ?? ('high' as const),
    ...(form === 'value' ? { score_id: score.id, value_index: index } : {}),
    ...(found === undefined ? {} : { kind: found.kind }),
    ...(found === undefined || found.tool === null ? {} : { tool_name: found.tool }),
    ...(ofAgent && agentName !== null ? { agent_name: agentName } : {}),
    ...(days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
  }
}

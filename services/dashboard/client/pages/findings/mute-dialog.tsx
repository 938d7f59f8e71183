import { Select } from '@mantine/core'
import { useForm } from '@mantine/form'
import { formatCount, nounOf } from '../../formats/format-number.ts'
import { isoText } from '../../formats/local-time.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { MomentPicker } from '../../parts/moment-picker.tsx'

const dayMs = 86_400_000
const untilDate = 'date'
const spans = [
  ...[1, 7, 30, 90].map((days) => ({ value: String(days), label: `${days} ${nounOf(days, 'day')}` })),
  { value: untilDate, label: 'Until a date' },
]

interface MuteDialogProps {
  count: number
  isPending: boolean
  onMute: (mutedUntil: string) => void
  onClose: () => void
}

/** Asks until when findings are muted. */
export function MuteDialog({ count, isPending, onMute, onClose }: MuteDialogProps) {
  const form = useForm<{ span: string; until: string | null }>({
    initialValues: { span: '7', until: null },
    validate: {
      until: (until, { span }) =>
        span !== untilDate || Date.parse(isoText(until) ?? '') > Date.now()
          ? null
          : 'Choose a time in the future',
    },
  })
  return (
    <FormModal
      title={`Mute ${formatCount(count)} ${nounOf(count, 'finding')}`}
      onClose={onClose}
      onSubmit={form.onSubmit(({ span, until }) =>
        onMute(
          span === untilDate
            ? (isoText(until) ?? '')
            : new Date(Date.now() + Number(span) * dayMs).toISOString(),
        ),
      )}
      error={null}
      isPending={isPending}
      submit="Mute"
    >
      <Select
        label="For"
        description="Calls still count. After this time the next one opens the finding again."
        data={spans}
        allowDeselect={false}
        data-autofocus
        {...form.getInputProps('span')}
      />
      {form.values.span === untilDate ? (
        <MomentPicker label="Until" {...form.getInputProps('until')} />
      ) : null}
    </FormModal>
  )
}

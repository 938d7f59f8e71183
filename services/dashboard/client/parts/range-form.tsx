import '@mantine/dates/styles.css'
import { Button, Stack } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { useForm } from '@mantine/form'
import type { ChosenRange } from '../formats/time-range.ts'

interface RangeFormProps {
  range: ChosenRange
  onChoose: (chosen: { start: string | undefined; end: string | undefined }) => void
}

/** From when to when, in the browser's zone. */
export function RangeForm({ range, onChoose }: RangeFormProps) {
  const form = useForm({
    initialValues: { start: localText(range.start), end: localText(range.end) },
    validate: {
      end: (end, { start }) =>
        end !== null && start !== null && end <= start ? 'is before the start' : null,
    },
  })
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <form
      onSubmit={form.onSubmit(({ start, end }) => onChoose({ start: isoText(start), end: isoText(end) }))}
    >
      <Stack w={240}>
        <DateTimePicker label="From" description={zone} clearable {...form.getInputProps('start')} />
        <DateTimePicker label="Until" placeholder="Now" clearable {...form.getInputProps('end')} />
        <Button type="submit">Show</Button>
      </Stack>
    </form>
  )
}

/** `2026-11-21 20:17:00`: how the picker writes a time, without a zone. */
function localText(iso: string | undefined): string | null {
  if (iso === undefined) return null
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ')
}

function isoText(local: string | null): string | undefined {
  return local === null ? undefined : new Date(local.replace(' ', 'T')).toISOString()
}

import '@mantine/dates/styles.css'
import { Button, Stack } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { useForm } from '@mantine/form'
import { isoText, localText } from '../formats/local-time.ts'
import type { ChosenRange } from '../formats/time-range.ts'

interface RangeFormProps {
  range: ChosenRange
  onChoose: (chosen: { start: string | undefined; end: string | undefined }) => void
}

/** From when to when, in the browser's zone. */
export function RangeForm({ range, onChoose }: RangeFormProps) {
  const form = useForm({
    initialValues: { start: textOf(range.start), end: textOf(range.end) },
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

function textOf(iso: string | undefined): string | null {
  return iso === undefined ? null : localText(Date.parse(iso))
}

import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { isoTexts, localTextOf, type PickedTexts } from '../formats/local-time.ts'
import type { ChosenRange } from '../formats/time-range.ts'
import { MomentPicker } from './moment-picker.tsx'

interface RangeFormProps {
  range: ChosenRange
  onChoose: (chosen: { start: string | undefined; end: string | undefined }) => void
}

/** Start and end, in the browser's zone. */
export function RangeForm({ range, onChoose }: RangeFormProps) {
  const form = useForm<PickedTexts>({
    initialValues: { start: localTextOf(range.start), end: localTextOf(range.end) },
    validate: {
      end: (_end, picked) => {
        const { start, end } = isoTexts(picked, range)
        return start !== undefined && end !== undefined && end <= start ? 'must be after the start' : null
      },
    },
  })
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <form onSubmit={form.onSubmit((picked) => onChoose(isoTexts(picked, range)))}>
      <Stack w={240}>
        <MomentPicker label="From" description={zone} clearable {...form.getInputProps('start')} />
        <MomentPicker label="To" placeholder="Now" clearable {...form.getInputProps('end')} />
        <Button type="submit">Apply</Button>
      </Stack>
    </form>
  )
}

import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { isoTexts, localTextOf, type PickedTexts } from '../formats/local-time.ts'
import type { ChosenRange } from '../formats/time-range.ts'
import { nameOfZone } from '../formats/zone.ts'
import { MomentPicker } from './moment-picker.tsx'

interface RangeFormProps {
  range: ChosenRange
  onChoose: (chosen: { start: string | undefined; end: string | undefined }) => void
}

/** Start and end, in the shown zone. */
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
  return (
    <form onSubmit={form.onSubmit((picked) => onChoose(isoTexts(picked, range)))}>
      <Stack w={240}>
        <MomentPicker label="From" description={nameOfZone()} clearable {...form.getInputProps('start')} />
        <MomentPicker label="To" placeholder="Now" clearable {...form.getInputProps('end')} />
        <Button type="submit">Apply</Button>
      </Stack>
    </form>
  )
}

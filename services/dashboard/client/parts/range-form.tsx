import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { isoText, localText } from '../formats/local-time.ts'
import type { ChosenRange } from '../formats/time-range.ts'
import { MomentPicker } from './moment-picker.tsx'

interface RangeFormProps {
  range: ChosenRange
  onChoose: (chosen: { start: string | undefined; end: string | undefined }) => void
}

interface PickedTexts {
  start: string | null
  end: string | null
}

/** From when to when, in the browser's zone. */
export function RangeForm({ range, onChoose }: RangeFormProps) {
  const chosenBy = ({ start, end }: PickedTexts) => ({
    start: isoText(start, range.start),
    end: isoText(end, range.end),
  })
  const form = useForm<PickedTexts>({
    initialValues: { start: textOf(range.start), end: textOf(range.end) },
    validate: {
      end: (_end, picked) => {
        const { start, end } = chosenBy(picked)
        return start !== undefined && end !== undefined && end <= start ? 'is before the start' : null
      },
    },
  })
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <form onSubmit={form.onSubmit((picked) => onChoose(chosenBy(picked)))}>
      <Stack w={240}>
        <MomentPicker label="From" description={zone} clearable {...form.getInputProps('start')} />
        <MomentPicker label="Until" placeholder="Now" clearable {...form.getInputProps('end')} />
        <Button type="submit">Show</Button>
      </Stack>
    </form>
  )
}

function textOf(iso: string | undefined): string | null {
  return iso === undefined ? null : localText(Date.parse(iso))
}

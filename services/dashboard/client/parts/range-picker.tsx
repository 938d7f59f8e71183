import { Popover, Select } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Suspense } from 'react'
import { useSetTexts } from '../app/address.ts'
import { formatRange } from '../formats/format-time.ts'
import { presets, type ChosenRange } from '../formats/time-range.ts'
import { lazyPart } from './lazy-part.ts'
import { Waiting } from './page-states.tsx'

// Calendars are large, and most people use a preset.
const RangeForm = lazyPart(async () => (await import('./range-form.tsx')).RangeForm)

const custom = 'custom'
const presetChoices = Object.entries(presets).map(([value, { label }]) => ({ value, label }))

/** Chooses the page's range, which is in the address; lists then restart at their first page. */
export function RangePicker({ range }: { range: ChosenRange }) {
  const setTexts = useSetTexts()
  const [isOpen, { open, close }] = useDisclosure()
  const choose = (value: string) => {
    if (value === custom) open()
    else setTexts({ range: value, start: undefined, end: undefined, page: undefined })
  }
  const label = range.preset === null ? formatRange(range) : 'Custom range'
  return (
    <Popover
      opened={isOpen}
      onChange={close}
      onDismiss={close}
      position="bottom-end"
      trapFocus
      withinPortal
      closeOnEscape={false}
    >
      <Popover.Target>
        <Select
          aria-label="Time range"
          data={[...presetChoices, { value: custom, label }]}
          value={range.preset ?? custom}
          // Also for the current choice: that is how "from … to …" is edited.
          onOptionSubmit={choose}
          allowDeselect={false}
          w={range.preset === null ? 250 : 170}
          size="sm"
        />
      </Popover.Target>
      <Popover.Dropdown
        onKeyDown={({ key, target, currentTarget }) => {
          // The calendar is elsewhere in the document and closes itself.
          if (key === 'Escape' && currentTarget.contains(target as Node)) close()
        }}
      >
        <Suspense fallback={<Waiting />}>
          <RangeForm
            range={range}
            onChoose={(chosen) => {
              setTexts({ range: undefined, page: undefined, ...chosen })
              close()
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}

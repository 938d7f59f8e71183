import { Pill } from '@mantine/core'
import { PlainText } from './plain-text.tsx'

interface FilterPillProps {
  label: string
  /** Absent: there is no such filter, and nothing is shown. */
  value: string | undefined
  onRemove: () => void
}

/** A filter that is on, and the way to take it off. */
export function FilterPill({ label, value, onRemove }: FilterPillProps) {
  if (value === undefined) return null
  return (
    <Pill
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{ 'aria-label': `Remove the filter on ${label}`, 'aria-hidden': false, tabIndex: 0 }}
    >
      {label}: <PlainText text={value} />
    </Pill>
  )
}

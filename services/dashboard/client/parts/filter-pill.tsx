import { Pill } from '@mantine/core'
import { PlainText } from './plain-text.tsx'

interface FilterPillProps {
  label: string
  /** Absent: the filter is inactive and nothing is shown. */
  value: string | undefined
  onRemove: () => void
}

/** An active filter that can be removed. */
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

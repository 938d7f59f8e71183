import { Alert, Button, Group } from '@mantine/core'
import { useSetTexts } from '../../app/address.ts'
import { FilterPill } from '../../parts/filter-pill.tsx'
import { labelOfFilter } from './filter-language.ts'
import { shownValue } from './read-filters.ts'

/** Active filters, each removable. */
export function FilterPills({ filters }: { filters: Readonly<Record<string, string>> }) {
  const setTexts = useSetTexts()
  const names = Object.keys(filters)
  return (
    <Group gap="xs">
      {Object.entries(filters).map(([name, value]) => (
        <FilterPill
          key={name}
          label={labelOfFilter(name)}
          value={shownValue(name, value)}
          onRemove={() => setTexts({ [name]: undefined })}
        />
      ))}
      {names.length < 2 ? null : (
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => setTexts(Object.fromEntries(names.map((name) => [name, undefined])))}
        >
          Clear
        </Button>
      )}
    </Group>
  )
}

/** Parameters of a link that select nothing: without a word, a misspelt filter would show everything. */
export function UnknownParameters({ names }: { names: readonly string[] }) {
  const setTexts = useSetTexts()
  if (names.length === 0) return null
  return (
    <Alert
      color="yellow"
      mb="xs"
      title={`The address has filters that do not exist: ${names.slice(0, 10).join(', ')}`}
      withCloseButton
      closeButtonLabel="Remove them"
      onClose={() => setTexts(Object.fromEntries(names.map((name) => [name, undefined])))}
    >
      The list is not filtered by them.
    </Alert>
  )
}

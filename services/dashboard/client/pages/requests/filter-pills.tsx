import { Alert, Button, Group, Pill } from '@mantine/core'
import { useSetTexts } from '../../app/address.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import { labelOfFilter } from './filter-language.ts'
import { shownValue } from './read-filters.ts'

/** Active filters, each removable. */
export function FilterPills({ filters }: { filters: Readonly<Record<string, string>> }) {
  const setTexts = useSetTexts()
  const names = Object.keys(filters)
  return (
    <Group gap="xs">
      {Object.entries(filters).map(([name, value]) => (
        <Pill
          key={name}
          withRemoveButton
          onRemove={() => setTexts({ [name]: undefined })}
          removeButtonProps={{
            'aria-label': `Remove the filter ${labelOfFilter(name)}`,
            tabIndex: 0,
            'aria-hidden': false,
          }}
        >
          {labelOfFilter(name)}: <PlainText text={shownValue(name, value)} />
        </Pill>
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

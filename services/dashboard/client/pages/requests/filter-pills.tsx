import { ActionIcon, Button, Group, Pill, Popover, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconFilterPlus } from '@tabler/icons-react'
import { useSetTexts } from '../../app/address.ts'
import { PlainText } from '../../parts/plain-text.tsx'
import { choosing, filterLabels, filterValues, labelOf, shownValue } from './read-filters.ts'

/** Active filters, each removable, and a form to add one that no facet offers. */
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
            'aria-label': `Remove the filter ${labelOf(name)}`,
            tabIndex: 0,
            'aria-hidden': false,
          }}
        >
          {labelOf(name)}: <PlainText text={shownValue(name, value)} />
        </Pill>
      ))}
      <AddFilter filters={filters} />
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

const metadata = 'metadata'
const choices = [
  ...Object.entries(filterLabels).map(([value, label]) => ({ value, label })),
  { value: metadata, label: 'Metadata' },
]

function AddFilter({ filters }: { filters: Readonly<Record<string, string>> }) {
  const setTexts = useSetTexts()
  const [isOpen, { toggle, close }] = useDisclosure()
  const form = useForm({
    initialValues: { name: 'session_id', key: '', value: '' },
    validate: {
      key: (key, { name }) => (name === metadata && key.trim() === '' ? 'Enter a key' : null),
      value: (value) => (value === '' ? 'Enter a value' : null),
    },
  })
  const values = filterValues[form.values.name]
  return (
    <Popover opened={isOpen} onChange={close} onDismiss={close} trapFocus position="bottom-start">
      <Popover.Target>
        <ActionIcon variant="default" onClick={toggle} aria-label="Add filter" aria-expanded={isOpen}>
          <IconFilterPlus size={16} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          onSubmit={form.onSubmit(({ name, key, value }) => {
            setTexts(choosing(filters, name === metadata ? `metadata.${key.trim()}` : name, value))
            form.reset()
            close()
          })}
        >
          <Stack gap="xs" w={240}>
            <Select
              label="Field"
              data={choices}
              allowDeselect={false}
              comboboxProps={{ withinPortal: false }}
              {...form.getInputProps('name')}
              onChange={(name: string | null) => form.setValues({ name: name ?? 'session_id', value: '' })}
            />
            {form.values.name === metadata ? <TextInput label="Key" {...form.getInputProps('key')} /> : null}
            {values === undefined ? (
              <TextInput label="Value" data-autofocus {...form.getInputProps('value')} />
            ) : (
              <Select
                label="Value"
                data={values.map((value) => ({ value, label: shownValue(form.values.name, value) }))}
                comboboxProps={{ withinPortal: false }}
                {...form.getInputProps('value')}
              />
            )}
            <Button type="submit">Filter</Button>
          </Stack>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}

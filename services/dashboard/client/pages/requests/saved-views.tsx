import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBookmark, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { rowsIn } from '../../api/call-api.ts'
import { useApi, useApiChange } from '../../api/use-api.ts'
import { useSetTexts } from '../../app/address.ts'
import { parseSearch, writeSearch, type SearchTexts } from '../../formats/search-texts.ts'
import { Failure, Loaded } from '../../parts/page-states.tsx'
import { PlainText } from '../../parts/plain-text.tsx'

const changed = ['GET /api/me/views'] as const

/** A person's named filters: opened, saved in place of one of the same name, deleted. */
export function SavedViews({ filters }: { filters: Readonly<Record<string, string>> }) {
  const [isOpen, { toggle, close }] = useDisclosure()
  return (
    <Popover opened={isOpen} onChange={close} onDismiss={close} trapFocus position="bottom-end">
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconBookmark size={16} aria-hidden />}
          onClick={toggle}
          aria-expanded={isOpen}
        >
          Views
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" w={280}>
          <ViewList filters={filters} close={close} />
          <SaveView filters={filters} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

interface ViewListProps {
  filters: Readonly<Record<string, string>>
  close: () => void
}

function ViewList({ filters, close }: ViewListProps) {
  const views = useApi('GET /api/me/views', {})
  const remove = useApiChange('DELETE /api/me/views/{id}', changed)
  const setTexts = useSetTexts()
  const open = (query: string) => {
    const none: SearchTexts = Object.fromEntries(Object.keys(filters).map((name) => [name, undefined]))
    setTexts({ ...none, ...parseSearch(query) })
    close()
  }
  const empty = (
    <Text size="sm" c="dimmed">
      No saved views yet.
    </Text>
  )
  return (
    <Loaded
      query={views}
      empty={{ when: (found) => rowsIn<'GET /api/me/views'>(found).length === 0, show: empty }}
    >
      {(found) =>
        rowsIn<'GET /api/me/views'>(found).map(({ id, name, query }) => (
          <Group key={id} gap="xs" wrap="nowrap">
            <Button
              flex={1}
              size="compact-sm"
              variant="subtle"
              justify="flex-start"
              onClick={() => open(query)}
            >
              <PlainText text={name} />
            </Button>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Delete the view ${name}`}
              loading={remove.isPending}
              onClick={() => remove.mutate({ params: { id } })}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))
      }
    </Loaded>
  )
}

function SaveView({ filters }: Pick<ViewListProps, 'filters'>) {
  const [name, setName] = useState('')
  const save = useApiChange('POST /api/me/views', changed)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const body = { name: name.trim(), query: writeSearch(filters) }
        save.mutate({ body }, { onSuccess: () => setName('') })
      }}
    >
      <Stack gap="xs">
        <TextInput
          label="Save these filters as"
          maxLength={80}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {save.error === null ? null : <Failure error={save.error} />}
        <Button type="submit" size="compact-sm" disabled={name.trim() === ''} loading={save.isPending}>
          Save
        </Button>
      </Stack>
    </form>
  )
}

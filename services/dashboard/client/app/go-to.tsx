import { Combobox, Group, Modal, Text, TextInput, useCombobox } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Person } from '../api/session.ts'
import { goToChoices, type GoToChoice } from './go-to-choices.ts'
import { pages } from './pages.ts'

/** The command palette: pages, projects, and ids by their text. */
export function GoTo({ person, onClose }: { person: Person; onClose: () => void }) {
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const combobox = useCombobox({ opened: true })
  const choices = goToChoices(typed, person, pages)
  const go = ({ path, project: id }: GoToChoice) => {
    onClose()
    if (id !== undefined) void navigate({ to: '/', search: { project: id } })
    else if (path !== undefined) void navigate({ to: path })
  }
  return (
    <Modal opened onClose={onClose} title="Go to" padding="sm">
      <Combobox
        store={combobox}
        onOptionSubmit={(index) => {
          const choice = choices[Number(index)]
          if (choice !== undefined) go(choice)
        }}
      >
        <Combobox.EventsTarget>
          <TextInput
            aria-label="Page, project or id"
            placeholder="Page, project, id or session"
            data-autofocus
            value={typed}
            onChange={({ currentTarget: { value } }) => {
              setTyped(value)
              combobox.updateSelectedOptionIndex()
            }}
            onKeyDown={({ key }) => {
              // Without a chosen one, Enter goes to the first.
              const [first] = choices
              if (key === 'Enter' && combobox.getSelectedOptionIndex() < 0 && first !== undefined) go(first)
            }}
          />
        </Combobox.EventsTarget>
        <Combobox.Options mt="xs" aria-label="Places">
          {choices.map(({ label, kind }, index) => (
            <Combobox.Option key={`${kind} ${label}`} value={String(index)}>
              <Group justify="space-between" wrap="nowrap">
                <Text size="sm" truncate>
                  {label}
                </Text>
                <Text size="xs" c="dimmed">
                  {kind}
                </Text>
              </Group>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox>
    </Modal>
  )
}

import { ActionIcon, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useApiChange } from '../../api/use-api.ts'
import { confirmAction, notifyResult } from '../../parts/confirm-action.tsx'
import type { PersonEntry } from './person-form.tsx'

interface PersonActionsProps {
  person: PersonEntry
  onEdit: (person: PersonEntry) => void
  onPassword: (password: string) => void
}

/** An administrator's actions on a person. */
export function PersonActions({ person, onEdit, onPassword }: PersonActionsProps) {
  const change = useApiChange('PATCH /api/people/{id}', ['GET /api/people'])
  const reset = useApiChange('POST /api/people/{id}/password', ['GET /api/people'])
  const signOut = useApiChange('DELETE /api/people/{id}/logins', ['GET /api/people'])
  const params = { id: person.id }
  const askReset = () =>
    confirmAction({
      title: `Reset the password of ${person.name}?`,
      consequence: 'The old one is refused from now on, and they are signed out everywhere.',
      confirm: 'Reset password',
      action: async () => {
        const { password } = await reset.mutateAsync({ params, body: {} })
        if (password !== undefined) onPassword(password)
      },
      done: 'The new password is shown above the list.',
    })
  const askDisable = () =>
    confirmAction({
      title: `Disable ${person.name}?`,
      consequence:
        'They are signed out everywhere at once and cannot sign in. What they did stays in the audit log.',
      confirm: 'Disable',
      action: () => change.mutateAsync({ params, body: { disabled: true } }),
      done: 'They are disabled.',
    })
  const enable = () =>
    void notifyResult(change.mutateAsync({ params, body: { disabled: false } }), 'They may sign in again.')
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" aria-label={`Actions for ${person.name}`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onEdit(person)}>Edit</Menu.Item>
        {person.has_password ? <Menu.Item onClick={askReset}>Reset password</Menu.Item> : null}
        <Menu.Item component={Link} to={`/settings/people/${person.id}/sessions`}>
          Sessions
        </Menu.Item>
        <Menu.Item
          onClick={() =>
            void notifyResult(signOut.mutateAsync({ params }), 'They are signed out everywhere.')
          }
        >
          Sign out everywhere
        </Menu.Item>
        {person.disabled ? <Menu.Item onClick={enable}>Enable</Menu.Item> : null}
        {person.disabled ? null : (
          <Menu.Item color="red" onClick={askDisable}>
            Disable
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

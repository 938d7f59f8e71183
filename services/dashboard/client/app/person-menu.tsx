import { Menu, NavLink, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import {
  IconDeviceDesktop,
  IconDevices,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconSun,
  IconUser,
} from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useLogout, useMe } from '../api/session.ts'
import { notifyResult } from '../parts/confirm-action.tsx'
import { forgetDrafts } from '../parts/use-draft.ts'

const schemes: readonly { value: MantineColorScheme; label: string; icon: typeof IconSun }[] = [
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
]

/** Name, colour scheme, shortcuts and sign-out. */
export function PersonMenu({ onShowKeys }: { onShowKeys: () => void }) {
  const me = useMe().data
  const logout = useLogout()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu position="top-start" width="target">
      <Menu.Target>
        <NavLink
          component="button"
          label={me?.name ?? ''}
          description={me?.role}
          leftSection={<IconUser size={18} stroke={1.5} aria-hidden />}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Theme</Menu.Label>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(value) => setColorScheme(value as MantineColorScheme)}
        >
          {schemes.map(({ value, label, icon: SchemeIcon }) => (
            <Menu.RadioItem key={value} value={value} rightSection={<SchemeIcon size={16} aria-hidden />}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item
          component={Link}
          to="/settings/sessions"
          leftSection={<IconDevices size={16} aria-hidden />}
        >
          Your sessions
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={onShowKeys}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={16} aria-hidden />}
          disabled={logout.isPending}
          onClick={() =>
            void notifyResult(logout.mutateAsync(undefined).then(forgetDrafts), 'You are signed out.')
          }
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

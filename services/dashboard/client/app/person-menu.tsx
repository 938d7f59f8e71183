import { Menu, NavLink, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import {
  IconCheck,
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

const schemes: readonly { value: MantineColorScheme; label: string; icon: typeof IconSun }[] = [
  { value: 'auto', label: 'As the system', icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
]

/** Who is logged in; the colours; the keys; the way out. */
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
        <Menu.Label>Colours</Menu.Label>
        {schemes.map(({ value, label, icon: SchemeIcon }) => (
          <Menu.Item
            key={value}
            role="menuitemradio"
            aria-checked={colorScheme === value}
            leftSection={<SchemeIcon size={16} aria-hidden />}
            rightSection={colorScheme === value ? <IconCheck size={16} aria-hidden /> : null}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          component={Link}
          to="/settings/sessions"
          leftSection={<IconDevices size={16} aria-hidden />}
        >
          Your sessions
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={onShowKeys}>
          Keys
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={16} aria-hidden />}
          disabled={logout.isPending}
          onClick={() => logout.mutate(undefined)}
        >
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

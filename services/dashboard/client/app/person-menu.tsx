import { Kbd, Menu, NavLink, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import {
  IconDeviceDesktop,
  IconDevices,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconSearch,
  IconSun,
  IconUser,
} from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useLogout, useMe } from '../api/session.ts'
import { nameOfZone, type Zone } from '../formats/zone.ts'
import { notifyResult } from '../parts/confirm-action.tsx'
import { forgetDrafts } from '../parts/use-draft.ts'
import { pageKeys } from './page-keys.ts'
import { useZone } from './use-zone.ts'

const schemes: readonly { value: MantineColorScheme; label: string; icon: typeof IconSun }[] = [
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
]

interface PersonMenuProps {
  onShowKeys: () => void
  onGoTo: () => void
}

/** Name, zone, colour scheme, shortcuts and sign-out. */
export function PersonMenu({ onShowKeys, onGoTo }: PersonMenuProps) {
  const [zone] = useZone()
  const me = useMe().data
  const logout = useLogout()
  return (
    <Menu position="top-start" width="target">
      <Menu.Target>
        <NavLink
          component="button"
          label={me?.name ?? ''}
          description={`${me?.role ?? ''}, times in ${nameOfZone(zone)}`}
          leftSection={<IconUser size={18} stroke={1.5} aria-hidden />}
        />
      </Menu.Target>
      <Menu.Dropdown>
        <Appearance />
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSection={<Kbd size="xs">{pageKeys.goTo.cap}</Kbd>}
          onClick={onGoTo}
        >
          Go to…
        </Menu.Item>
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

/** Colour scheme and zone. */
function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [zone, setZone] = useZone()
  return (
    <>
      <Menu.Label>Theme</Menu.Label>
      <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
        {schemes.map(({ value, label, icon: SchemeIcon }) => (
          <Menu.RadioItem key={value} value={value} rightSection={<SchemeIcon size={16} aria-hidden />}>
            {label}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
      <Menu.Label>Times</Menu.Label>
      <Menu.RadioGroup value={zone} onChange={(value) => setZone(value as Zone)}>
        {(['local', 'utc'] as const).map((value) => (
          <Menu.RadioItem key={value} value={value}>
            {nameOfZone(value)}
            {value === 'local' ? ' (this browser)' : ''}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </>
  )
}

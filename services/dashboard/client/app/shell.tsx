import { AppShell, Burger, Button, Group, ScrollArea, Text } from '@mantine/core'
import { useDidUpdate, useDisclosure } from '@mantine/hooks'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useMe } from '../api/session.ts'
import { Loaded } from '../parts/page-states.tsx'
import { Login } from './login.tsx'
import { keepFocus } from './keep-focus.ts'
import { KeyList } from './key-list.tsx'
import { StaleNotice } from './stale-notice.tsx'
import { Navigation } from './navigation.tsx'
import { usePageKeys } from './page-keys.ts'
import { PersonMenu } from './person-menu.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'

/** The sign-in form, or the navigation around the page. */
export function Shell() {
  useEffect(() => keepFocus(document), [])
  return (
    <Loaded query={useMe()}>
      {/* Keyed by person: page state and typed text never pass to the next person. */}
      {(person) => (person === null ? <Login /> : <Framework key={person.id} />)}
    </Loaded>
  )
}

function Framework() {
  const [isOpen, { toggle, close }] = useDisclosure()
  const [areKeysShown, { open: showKeys, close: hideKeys }] = useDisclosure()
  usePageKeys({ listKeys: showKeys })
  const { pathname } = useLocation()
  // On narrow screens the open navigation would cover the page.
  useEffect(close, [pathname, close])
  // Keyboard users continue in the page, not after its link.
  useDidUpdate(focusPage, [pathname])
  return (
    <AppShell
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 224, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <Button className="skip-link" size="xs" onClick={focusPage}>
        Skip to content
      </Button>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="sm" gap="sm">
          <Burger opened={isOpen} onClick={toggle} size="sm" aria-label="Navigation" aria-expanded={isOpen} />
          <Text fw={700}>Sluice</Text>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Main">
        <AppShell.Section visibleFrom="sm" px="xs" py="xs">
          <Text fw={700} size="lg">
            Sluice
          </Text>
        </AppShell.Section>
        <AppShell.Section pb="xs">
          <ProjectSwitcher />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea}>
          <Navigation />
        </AppShell.Section>
        <AppShell.Section>
          <PersonMenu onShowKeys={showKeys} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <StaleNotice />
        <Outlet />
      </AppShell.Main>
      <KeyList isOpen={areKeysShown} onClose={hideKeys} />
    </AppShell>
  )
}

function focusPage(): void {
  document.getElementById('main')?.focus({ preventScroll: true })
}

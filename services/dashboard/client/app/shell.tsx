import { AppShell, Burger, Button, Group, ScrollArea } from '@mantine/core'
import { useDidUpdate, useDisclosure, useHotkeys } from '@mantine/hooks'
import { Outlet, useLocation } from '@tanstack/react-router'
import { Suspense, useEffect } from 'react'
import { useMe, type Person } from '../api/session.ts'
import { lazyPart } from '../parts/lazy-part.ts'
import { Loaded } from '../parts/page-states.tsx'
import { Login } from './login.tsx'
import { keepFocus } from './keep-focus.ts'
import { KeyList } from './key-list.tsx'
import { StaleNotice } from './stale-notice.tsx'
import { Mark } from './mark.tsx'
import { Navigation } from './navigation.tsx'
import { pageKeys, usePageKeys } from './page-keys.ts'
import { PersonMenu } from './person-menu.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import { useZone } from './use-zone.ts'

const GoTo = lazyPart(async () => (await import('./go-to.tsx')).GoTo)

/** The sign-in form, or the navigation around the page. */
export function Shell() {
  useEffect(() => keepFocus(document), [])
  const [zone] = useZone()
  return (
    <Loaded query={useMe()}>
      {/* Keyed by person: page state and typed text never pass to the next person. And by the zone, in which
          every time is rendered again. */}
      {(person) => (person === null ? <Login /> : <Framework key={`${person.id} ${zone}`} person={person} />)}
    </Loaded>
  )
}

function Framework({ person }: { person: Person }) {
  const [isOpen, { toggle, close }] = useDisclosure()
  const [areKeysShown, { open: showKeys, close: hideKeys }] = useDisclosure()
  const [isGoing, { open: openGoTo, close: closeGoTo }] = useDisclosure()
  usePageKeys({ listKeys: showKeys })
  // In fields too.
  useHotkeys([[pageKeys.goTo.hotkey, openGoTo]], [])
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
          <Mark />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Main">
        <AppShell.Section visibleFrom="sm" px="xs" py="xs">
          <Mark />
        </AppShell.Section>
        <AppShell.Section pb="xs">
          <ProjectSwitcher />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea}>
          <Navigation />
        </AppShell.Section>
        <AppShell.Section>
          <PersonMenu onShowKeys={showKeys} onGoTo={openGoTo} />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <StaleNotice />
        <Outlet />
      </AppShell.Main>
      <KeyList isOpen={areKeysShown} onClose={hideKeys} />
      {isGoing ? (
        <Suspense>
          <GoTo person={person} onClose={closeGoTo} />
        </Suspense>
      ) : null}
    </AppShell>
  )
}

function focusPage(): void {
  document.getElementById('main')?.focus({ preventScroll: true })
}

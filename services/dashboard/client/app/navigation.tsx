import { NavLink, Text } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { useMe } from '../api/session.ts'
import { mayVisit, sections, type PageEntry } from './page-entry.ts'
import { pages } from './pages.ts'

/** The pages that the person may see, by section. */
export function Navigation() {
  const { pathname } = useLocation()
  const role = useMe().data?.role ?? 'viewer'
  const active = activePath(pathname)
  return sections.map((section) => {
    const shown = pages.filter((page) => page.section === section && mayVisit(role, page))
    if (shown.length === 0) return null
    return (
      <div key={section}>
        <Text size="xs" c="dimmed" px="xs" pt="sm" pb={4}>
          {section}
        </Text>
        {shown.map((page) => (
          <PageNavLink key={page.path} page={page} isActive={page.path === active} />
        ))}
      </div>
    )
  })
}

function PageNavLink({ page, isActive }: { page: PageEntry; isActive: boolean }) {
  const { icon: PageIcon, path, title } = page
  return (
    <NavLink
      component={Link}
      to={path}
      // Otherwise the link marks every ancestor of the page as current.
      activeOptions={{ exact: true }}
      py={5}
      label={title}
      active={isActive}
      aria-current={isActive ? 'page' : undefined}
      leftSection={PageIcon === undefined ? null : <PageIcon size={18} stroke={1.5} aria-hidden />}
    />
  )
}

/** The most specific entry that the page is under: dead letters are under operations and also an entry. */
function activePath(pathname: string): string | undefined {
  return pages
    .filter(({ section, path }) => section !== undefined && isWithin(pathname, path))
    .sort((one, other) => other.path.length - one.path.length)[0]?.path
}

function isWithin(pathname: string, path: string): boolean {
  return path === '/' ? pathname === '/' : pathname === path || pathname.startsWith(`${path}/`)
}

import { IconGauge, IconList, IconRoute, IconTool } from '@tabler/icons-react'
import type { PageEntry } from './page-entry.ts'
import { judgePages } from './judge-pages.ts'
import { runPages } from './run-pages.ts'
import { settingsPages } from './settings-pages.ts'

/** All pages. A new one is a row here and a file in pages/. */
export const pages: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Overview',
    icon: IconGauge,
    section: 'Watch',
    load: async () => (await import('../pages/overview/overview-page.tsx')).OverviewPage,
  },
  {
    path: '/requests',
    title: 'Requests',
    icon: IconList,
    section: 'Watch',
    load: async () => (await import('../pages/requests/requests-page.tsx')).RequestsPage,
  },
  {
    path: '/requests/$id',
    title: 'Request',
    findsProject: true,
    load: async () => (await import('../pages/request/request-page.tsx')).RequestPage,
  },
  {
    path: '/sessions',
    title: 'Sessions',
    icon: IconRoute,
    section: 'Watch',
    load: async () => (await import('../pages/sessions/sessions-page.tsx')).SessionsPage,
  },
  {
    path: '/sessions/$id',
    title: 'Session',
    load: async () => (await import('../pages/sessions/session-page.tsx')).SessionPage,
  },
  {
    path: '/tools',
    title: 'Tools',
    icon: IconTool,
    section: 'Watch',
    load: async () => (await import('../pages/tools/tools-page.tsx')).ToolsPage,
  },
  ...judgePages,
  ...runPages,
  ...settingsPages,
]

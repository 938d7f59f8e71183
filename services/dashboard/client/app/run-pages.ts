import { IconActivity, IconMailX } from '@tabler/icons-react'
import type { PageEntry } from './page-entry.ts'

/** Pages for operators. */
export const runPages: readonly PageEntry[] = [
  {
    path: '/operations',
    title: 'Operations',
    icon: IconActivity,
    section: 'Run',
    role: 'admin',
    isGlobal: true,
    load: async () => (await import('../pages/operations/operations-page.tsx')).OperationsPage,
  },
  {
    path: '/operations/dead-letters',
    title: 'Dead letters',
    icon: IconMailX,
    section: 'Run',
    role: 'admin',
    isGlobal: true,
    load: async () => (await import('../pages/dead-letters/dead-letters-page.tsx')).DeadLettersPage,
  },
]

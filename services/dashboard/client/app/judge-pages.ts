import { IconRefresh, IconScale, IconSwords } from '@tabler/icons-react'
import type { PageEntry } from './page-entry.ts'

/** Pages on reviews and score runs. */
export const judgePages: readonly PageEntry[] = [
  {
    path: '/reviews',
    title: 'Reviews',
    icon: IconScale,
    section: 'Judge',
    load: async () => (await import('../pages/reviews/reviews-page.tsx')).ReviewsPage,
  },
  {
    path: '/score-runs',
    title: 'Score runs',
    icon: IconRefresh,
    section: 'Judge',
    role: 'admin',
    isGlobal: true,
    load: async () => (await import('../pages/score-runs/score-runs-page.tsx')).ScoreRunsPage,
  },
  {
    path: '/score-runs/$id',
    title: 'Score run',
    role: 'admin',
    isGlobal: true,
    load: async () => (await import('../pages/score-runs/score-run-page.tsx')).ScoreRunPage,
  },
  {
    path: '/runs',
    title: 'Red team',
    icon: IconSwords,
    section: 'Judge',
    load: async () => (await import('../pages/red-team/red-team-page.tsx')).RedTeamPage,
  },
  {
    path: '/runs/$id',
    title: 'Red-team run',
    load: async () => (await import('../pages/red-team/red-team-run-page.tsx')).RedTeamRunPage,
  },
]

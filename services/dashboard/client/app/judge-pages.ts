import { IconRefresh, IconScale } from '@tabler/icons-react'
import type { PageEntry } from './page-entry.ts'

/** Whether verdicts are right, and scoring history again when they were not. */
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
]

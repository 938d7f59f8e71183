import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Role } from '../api/session.ts'

export const sections = ['Watch', 'Judge', 'Run', 'Settings'] as const

export interface PageEntry {
  /** `$id` is a parameter: usePathText('id'). */
  path: string
  title: string
  /** Its own chunk: loaded when somebody goes there. */
  load: () => Promise<() => ReactNode>
  /** Who may see it; less than the API would refuse is shown as such. Absent: everyone. */
  role?: Role
  /** Absent: not in the navigation (it is reached from another page). */
  icon?: Icon
  section?: (typeof sections)[number]
  /** The page is about no project: the switcher does not matter to it. */
  isGlobal?: boolean
  /** What is shown says which project it is of: a link to it may leave the project out. */
  findsProject?: boolean
}

import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { roles, type Role } from '../api/session.ts'

export const sections = ['Watch', 'Judge', 'Run', 'Settings'] as const

export interface PageEntry {
  /** `$id` is a parameter: usePathText('id'). */
  path: string
  title: string
  /** A chunk of its own, loaded on navigation. */
  load: () => Promise<() => ReactNode>
  /** The minimum role; absent: everyone. */
  role?: Role
  /** Absent: not in the navigation (linked from another page). */
  icon?: Icon
  section?: (typeof sections)[number]
  /** Not about one project: the switcher is hidden. */
  isGlobal?: boolean
  /** The content names its project, so links may omit it. */
  findsProject?: boolean
}

/** Roles in ascending order. The API enforces them; this only hides pages that would be refused. */
export function mayVisit(role: Role, { role: needed = 'viewer' }: { role?: Role | undefined }): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

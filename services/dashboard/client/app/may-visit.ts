import { roles, type Role } from '../api/session.ts'

/** Roles in ascending order. The API enforces them; this only hides pages that would be refused. */
export function mayVisit(role: Role, { role: needed = 'viewer' }: { role?: Role | undefined }): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

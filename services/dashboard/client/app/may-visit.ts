import { roles, type Role } from '../api/session.ts'

/** Each role may do what those before it may. The API decides by itself; this only spares people a page of refusals. */
export function mayVisit(role: Role, { role: needed = 'viewer' }: { role?: Role | undefined }): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

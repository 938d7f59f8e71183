import type { ReactNode } from 'react'
import { rangeAround } from '../formats/time-range.ts'
import { PageLink } from './page-link.tsx'

/** Browsers remove these from a path, however they are encoded. */
const folders: readonly string[] = ['.', '..']
const aroundMs = 3.5 * 24 * 3_600_000

interface SessionLinkProps {
  id: string
  /** When its calls were made. */
  from: string
  to: string
  size?: 'sm'
  children: ReactNode
}

/** A link to a session. Callers choose its id; if a path cannot hold it, links to its calls as a list. */
export function SessionLink({ id, from, to, children, ...rest }: SessionLinkProps) {
  const place = folders.includes(id)
    ? { to: '/requests', search: { session_id: id, ...rangeAround({ from, to }, aroundMs, Date.now()) } }
    : { to: '/sessions/$id', params: { id } }
  return (
    <PageLink {...place} {...rest}>
      {children}
    </PageLink>
  )
}

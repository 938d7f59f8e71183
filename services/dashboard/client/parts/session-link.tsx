import type { ReactNode } from 'react'
import { rangeAround } from '../formats/time-range.ts'
import { PageLink } from './page-link.tsx'

/** What stands for the folder itself and the one above: browsers take it out of a path, however it is written. */
const folders: readonly string[] = ['.', '..']
const aroundMs = 3.5 * 24 * 3_600_000

interface SessionLinkProps {
  id: string
  /** When calls of it were made. */
  from: string
  to: string
  size?: 'sm'
  children: ReactNode
}

/** To the page of a session; whoever calls names it. One that no path can hold has its calls as a list. */
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

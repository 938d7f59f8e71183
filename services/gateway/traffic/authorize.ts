import { hash, timingSafeEqual } from 'node:crypto'
import type { CallerLimits } from '../budgets/caller-limits.ts'

/** The project that makes a call. */
export interface Caller {
  /** Undefined: the gateway's own project, while the API service has not named it yet. */
  projectId: string | undefined
  /** Zero content retention: bodies stay on disk for an hour at most. */
  isEphemeral: boolean
  /** The project masks what it records. Absent: no, or not known yet. */
  masks?: boolean
  /** What the key carries; undefined: nothing. */
  limits?: CallerLimits | undefined
}

/** Finds the caller of a key; `unavailable` if that is impossible at the moment. Never rejects. */
export type Authorizer = (key: string) => Caller | 'unknown' | Promise<Caller | 'unknown' | 'unavailable'>

/** Compares with every key in constant time, so that the duration reveals nothing about any. */
export function createAuthorizer(keys: readonly string[], project: () => Caller): Authorizer {
  const digests = keys.map(digestOf)
  return (key) => {
    const given = digestOf(key)
    let known = false
    for (const digest of digests) known = timingSafeEqual(digest, given) || known
    return known ? project() : 'unknown'
  }
}

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

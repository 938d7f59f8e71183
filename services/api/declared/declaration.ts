import type { PoolClient } from 'pg'
import type { Log } from '#runtime/log.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { Tier } from '#schemas/tiers.ts'
import type { FieldError } from '#http/problem.ts'
import type { PasswordHasher } from '../people/hash-password.ts'
import type { Actor } from '../stores/audit-store.ts'

/** One application of the file, in one transaction. */
export interface Declaration {
  client: PoolClient
  actor: Actor
  sealer: Sealer
  hasher: PasswordHasher
  defaultTier: Tier
  /** Whether there is a key for placeholders of masked values. */
  canMask: boolean
  log: Log
  nowMs: number
  count: (what: 'created' | 'changed') => void
  /** Notes what makes the whole file fail, in the end. */
  fault: (path: string, message: string) => void
  readonly faults: readonly FieldError[]
}

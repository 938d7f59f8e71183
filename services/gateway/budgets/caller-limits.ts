import { maxMetadataBytes } from '#capture/record/fault-of-metadata.ts'
import type { KeyLimits } from '#schemas/key-limits.ts'
import type { CallLabels } from '../traffic/service-headers.ts'

/** The limits of the key that makes a call. */
export interface CallerLimits extends KeyLimits {
  keyId: string
}

/** Undefined for a key that carries nothing: its calls take no extra step. */
export function limitsOf(keyId: string, limits: KeyLimits): CallerLimits | undefined {
  const { user, team, models, capture, ratePerMinute, monthlyBudgetUsd } = limits
  const carried = [user, team, models, ratePerMinute, monthlyBudgetUsd]
  return capture === 'full' && carried.every((value) => value === null) ? undefined : { keyId, ...limits }
}

/** A call's labels, with the key's user and team where the call has none. */
export function withKeyLabels(labels: CallLabels, { user, team }: CallerLimits): CallLabels {
  const named = user === null || labels.user_id !== undefined ? labels : { ...labels, user_id: user }
  if (team === null) return named
  const metadata = JSON.parse(labels.metadata ?? '{}') as object
  const text = JSON.stringify({ team, ...metadata })
  return Buffer.byteLength(text) > maxMetadataBytes ? named : { ...named, metadata: text }
}

import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { hasPassed, readGroupOffsets } from '#runtime/kafka/read-group-offsets.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { inElectedTransaction } from './election.ts'
import type { RoundEnd } from './periodic-task.ts'
import {
  dropOldClaims,
  findLostClaims,
  makeClaimPartitions,
  readSweptUntil,
  readTimeAgo,
  returnClaims,
  saveSweptUntil,
} from '../stores/claim-store.ts'

export interface ClaimDependencies {
  pool: Pool
  kafka: Kafka
  /** Where calls are published once they are admitted, and the group that stores them. */
  topic: string
  groupId: string
  clock: Clock
  log: Log
  metrics: Metrics
  /** A claim so old has been published, or its publishing has failed: ingest gives up after 10 s. */
  ageMs?: number
}

interface Snapshot {
  /** Every claim taken before this is on the topic before `ends`, or nowhere. */
  claimedBefore: Date
  ends: ReadonlyMap<number, bigint>
}

const claimsAtOnce = 5_000
/** Of claims, looked at in one statement: after a day's pause there may be tens of millions, and a statement has 30 s. */
const sliceMs = 300_000
/** Any number, the same for every sink: whoever holds this advisory lock looks after the claims. */
const claimLock = 7_355_613

/**
 * One round of looking after quota claims: partitions for this month and the next, months dropped that nobody asks for, and claims given back
 * whose call never came: it was admitted, and then Kafka was away or its client gone. What is behind the ends of the topic as they were an
 * hour after a claim is stored or will never be; each claim is looked at once, so that erasing a call gives nothing back.
 */
export function createClaimReturn(
  dependencies: ClaimDependencies,
): (signal?: AbortSignal) => Promise<RoundEnd> {
  const { pool, kafka, topic, groupId, clock, log, metrics, ageMs = 3_600_000 } = dependencies
  const returned = metrics.counter(
    'sluice_quota_claims_returned_total',
    'Claims given back because their call was never stored',
  )
  let snapshot: Snapshot | undefined

  async function keepPartitions(): Promise<boolean> {
    const now = new Date(clock.now())
    const dropped = await inElectedTransaction(pool, claimLock, async (client) => {
      await makeClaimPartitions(client, now)
      return (await dropOldClaims(client, now)) ?? null
    })
    if (typeof dropped === 'string') log.info({ table: dropped }, 'a month of quota claims was dropped')
    return dropped !== undefined
  }

  /** Gives back what was lost of the claims taken in a while. Resolves to whether there may be more. */
  async function giveBackOf(from: Date, to: Date): Promise<boolean> {
    const lost = await findLostClaims(pool, from, to, claimsAtOnce)
    let count = 0
    for (const claims of lost) count += await returnClaims(pool, claims, to)
    if (count > 0) {
      returned.inc(count)
      log.warn(
        { claims: count, projects: lost.length },
        'quota claims were given back: their calls never came',
      )
    }
    return lost.reduce((sum, { requestUuids }) => sum + requestUuids.length, 0) >= claimsAtOnce
  }

  /** Gives back what was lost before the snapshot, going on from where a round before got to. */
  async function release(before: Date, signal: AbortSignal | undefined): Promise<boolean> {
    let from = await readSweptUntil(pool, before)
    while (from < before) {
      if (signal?.aborted === true) return true
      const to = new Date(Math.min(before.getTime(), from.getTime() + sliceMs))
      if (await giveBackOf(from, to)) return true
      await saveSweptUntil(pool, to)
      from = to
    }
    return false
  }

  return async (signal) => {
    const isElected = await keepPartitions()
    // By the clock that claims were taken by, and before the ends are read.
    const claimedBefore = await readTimeAgo(pool, ageMs)
    if (snapshot === undefined) await readSweptUntil(pool, claimedBefore)
    const offsets = await readGroupOffsets(kafka, topic, groupId)
    const reached = snapshot !== undefined && hasPassed(offsets, snapshot.ends)
    if (snapshot !== undefined && reached && (await release(snapshot.claimedBefore, signal))) return true
    if (snapshot === undefined || reached) {
      snapshot = { claimedBefore, ends: offsets.ends }
    }
    return isElected ? false : 'not_elected'
  }
}

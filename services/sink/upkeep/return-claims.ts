import { hasPassed, readGroupOffsets } from '#runtime/kafka/read-group-offsets.ts'
import type { RoundEnd } from './periodic-task.ts'
import type { JobContext } from './upkeep-job.ts'
import {
  dropOldClaims,
  findLostClaims,
  makeClaimPartitions,
  readSweptUntil,
  readTimeAgo,
  returnClaims,
  saveSweptUntil,
} from '../stores/claim-store.ts'

export interface ClaimDependencies extends Pick<
  JobContext,
  'pool' | 'elect' | 'kafka' | 'clock' | 'log' | 'metrics'
> {
  /** The topic of admitted calls, and the group that stores them. */
  topic: string
  groupId: string
  /** By this age a claim's call is published or never will be: ingest gives up after 10 s. */
  ageMs?: number
}

interface Snapshot {
  /** Calls of claims taken before this lie on the topic before `ends`, or nowhere. */
  claimedBefore: Date
  ends: ReadonlyMap<number, bigint>
}

const claimsAtOnce = 5_000
/** Claims of one statement: tens of millions may wait after a day's pause, and a statement has 30 s. */
const sliceMs = 300_000

/**
 * Makes and drops the months of quota claims, and returns claims whose call was admitted but never arrived
 * (Kafka away, or the client gone). An hour after a claim, its call lies before the topic's ends or will
 * never come. Once the sinks have passed those ends, a claim without a stored call is lost. Each claim is
 * looked at once, so erasing a call returns nothing.
 */
export function createClaimReturn(
  dependencies: ClaimDependencies,
): (signal?: AbortSignal) => Promise<RoundEnd> {
  const { pool, elect, kafka, topic, groupId, clock, log, metrics, ageMs = 3_600_000 } = dependencies
  const returned = metrics.counter(
    'sluice_quota_claims_returned_total',
    'Claims given back because their call was never stored',
  )
  let snapshot: Snapshot | undefined

  async function keepPartitions(): Promise<'not_elected' | false> {
    const now = new Date(clock.now())
    const dropped = await elect(async (client) => {
      await makeClaimPartitions(client, now)
      return { table: await dropOldClaims(client, now) }
    })
    if (dropped === 'not_elected') return dropped
    if (dropped.table !== undefined) log.info(dropped, 'a month of quota claims was dropped')
    return false
  }

  /** Returns the lost claims of a period. Resolves to whether there may be more. */
  async function returnLost(from: Date, to: Date): Promise<boolean> {
    const lost = await findLostClaims(pool, from, to, claimsAtOnce)
    let count = 0
    for (const claims of lost) count += await returnClaims(pool, claims, to)
    if (count > 0) {
      returned.inc(count)
      log.warn({ claims: count, projects: lost.length }, 'quota claims returned: their calls never arrived')
    }
    return lost.reduce((sum, { requestUuids }) => sum + requestUuids.length, 0) >= claimsAtOnce
  }

  /** Returns what was lost before the snapshot, from where the last round stopped. */
  async function returnLostBefore(before: Date, signal: AbortSignal | undefined): Promise<boolean> {
    let from = await readSweptUntil(pool, before)
    while (from < before) {
      if (signal?.aborted === true) return true
      const to = new Date(Math.min(before.getTime(), from.getTime() + sliceMs))
      if (await returnLost(from, to)) return true
      await saveSweptUntil(pool, to)
      from = to
    }
    return false
  }

  return async (signal) => {
    const end = await keepPartitions()
    // By the clock of the claims, and before the ends are read.
    const claimedBefore = await readTimeAgo(pool, ageMs)
    if (snapshot === undefined) await readSweptUntil(pool, claimedBefore)
    const offsets = await readGroupOffsets(kafka, topic, groupId)
    const reached = snapshot !== undefined && hasPassed(offsets, snapshot.ends)
    if (snapshot !== undefined && reached && (await returnLostBefore(snapshot.claimedBefore, signal)))
      return true
    if (snapshot === undefined || reached) snapshot = { claimedBefore, ends: offsets.ends }
    return end
  }
}

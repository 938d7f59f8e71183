import type { Pool } from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { createDeliveryStore } from '#services/notifier/stores/delivery-store.ts'
import { eventually } from '#tests/support/until.ts'
import { createElection, upkeepLocks } from '../upkeep/election.ts'
import { createErasing } from '../upkeep/erase-recorded.ts'
import { makeThreatEvent } from '../steps/make-threat-event.ts'
import { placeCall } from '../steps/place-call.ts'
import { placeScores } from '../steps/place-score.ts'
import { createCallStore } from '../stores/call-store.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { createScoreStore } from '../stores/score-store.ts'
import { sampleScore, sampleScoredCall } from './sample-records.ts'

const tables = [
  'score_reviews',
  'llm_requests',
  'llm_request_bodies',
  'request_previews',
  'search_signatures',
  'safety_scores',
  'safety_score_details',
  'request_verdicts',
  'event_outbox',
  'webhook_deliveries',
]

/** As `countsOf` says when there are as many everywhere. */
export const all = (count: number) => Object.fromEntries(tables.map((table) => [table, count]))

const threatOf = (call: LoggedCall) => {
  const score = sampleScore(call.project_id, call.id)
  return makeThreatEvent(sampleScoredCall(call), score, 'https://sluice.example')
}

/** Stores as sinks and the notifier do. */
function createWriters(pool: Pool) {
  let next = 0
  const rollups = createRollupStore()

  /** Stores calls as a sink does that gets them at the next offsets, or at 0 when they are `redelivered`. */
  async function store(calls: readonly LoggedCall[], { redelivered = false } = {}) {
    const first = redelivered ? 0 : next
    next += calls.length
    const placed = calls.map((value, index) =>
      placeCall({
        topic: '',
        partition: 0,
        offset: BigInt(first + index),
        key: null,
        value,
        headers: {},
        timestampMs: 0,
      }),
    )
    const position = { cluster: 'c', topic: 't', partition: 0, nextOffset: BigInt(first + calls.length) }
    return createCallStore(pool, rollups).store(placed, position, 'kept')
  }

  const score = (calls: readonly LoggedCall[]) =>
    createScoreStore(pool, rollups).store(
      calls.flatMap((call) => placeScores(sampleScoredCall(call))),
      0,
      (added) =>
        added.map(({ call, score: added }) => makeThreatEvent(call, added, 'https://sluice.example')),
    )

  /** What the notifier writes when the events of calls come. */
  async function fanOut(calls: readonly LoggedCall[], webhookId: string): Promise<void> {
    const deliveries = calls.map((call) => {
      const event = threatOf(call)
      const id = deliveryId(event, webhookId)
      return {
        delivery_id: id,
        webhook_id: webhookId,
        project_id: call.project_id,
        attempt: 1,
        first_attempt: 1,
        due_at: 0,
        event,
        last_error: null,
      }
    })
    await createDeliveryStore(pool, 1_000).insert(deliveries)
  }

  return { store, score, fanOut }
}

/** What tests of erasing do with a database. */
export function createErasingFixture(pool: Pool) {
  async function addProject(): Promise<string> {
    const id = newId('project')
    await pool.query(`insert into projects (id, name, created_at) values ($1, 'p', now())`, [idToUuid(id)])
    return id
  }

  async function erase(projectId: string, scope: string, subject: string): Promise<string> {
    const id = idToUuid(newId('erasure'))
    await pool.query(
      `insert into erasures (id, project_id, scope, subject, requested_at, requested_by, kept_in_kafka_until)
       values ($1, $2, $3, $4, now(), 'operator', now() + interval '21 days')`,
      [id, idToUuid(projectId), scope, subject],
    )
    return id
  }

  const erasing = (of: Pool = pool) =>
    createErasing({
      pool: of,
      ...createElection(of, upkeepLocks.erasing),
      clock: systemClock,
      log: createLog('test', 'silent'),
      metrics: createMetrics(),
    })

  async function makeRounds(count: number): Promise<void> {
    const round = erasing()
    for (let made = 0; made < count; made++) await round()
  }

  /**
   * Makes rounds as a sink does until the erasure is done: other tests' transactions on the same server are
   * waited for too.
   */
  const erased = (id: string, calls: string) =>
    eventually(
      () => makeRounds(1).then(() => statusOf(id)),
      (status) => status?.status === 'erased' && status.erased_calls === calls,
    )

  async function statusOf(id: string) {
    const { rows } = await pool.query<{ status: string; erased_calls: string }>(
      'select status, erased_calls from erasures where id = $1',
      [id],
    )
    return rows[0]
  }

  async function countsOf(projectId: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const table of tables) {
      // Of many calls, one opens a finding.
      const of = table === 'event_outbox' ? ` and event not like 'finding%'` : ''
      const { rows } = await pool.query<{ n: number }>(
        `select count(*)::integer as n from ${table} where project_id = $1${of}`,
        [idToUuid(projectId)],
      )
      counts[table] = rows[0]?.n ?? -1
    }
    return counts
  }

  return { ...createWriters(pool), addProject, erase, erasing, makeRounds, erased, statusOf, countsOf }
}

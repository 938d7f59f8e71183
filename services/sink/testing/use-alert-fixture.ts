import type pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { createCallStore } from '../stores/call-store.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { createElection, upkeepLocks } from '../upkeep/election.ts'
import { createAlertEvaluation } from '../upkeep/alert-rules/evaluate-alerts.ts'
import { placeSample, sampleCall } from './sample-records.ts'
import { useCallDatabase } from './use-call-database.ts'

/** A database of the test file's own, with what tests of alert rules do with it. */
export function useAlertFixture() {
  const { pool, addProject } = useCallDatabase({ days: [-8, -7, -6, -2, -1, 0, 1], max: 6 })
  let offset = 0

  async function store(calls: readonly LoggedCall[]): Promise<void> {
    const position = { cluster: 'c', topic: 't', partition: 0, nextOffset: BigInt((offset += calls.length)) }
    const placed = calls.map((call) => placeSample(call, offset))
    await createCallStore(pool(), createRollupStore()).store(placed, position, 'kept')
  }

  const evaluate = (nowMs: number, untilMs = nowMs, statementMs = 15_000) =>
    evaluateAll(pool(), { nowMs, untilMs, statementMs })

  async function statusOf(ruleUuid: string) {
    const { rows } = await pool().query<{
      status: string
      value: number | null
      compared_with: number | null
    }>('select status, value, compared_with from alert_states where rule_id = $1', [ruleUuid])
    return rows[0]
  }

  async function eventsOf(projectId: string) {
    const { rows } = await pool().query<{ event: string; data: Buffer }>(
      'select event, data from event_outbox where project_id = $1 order by seq',
      [idToUuid(projectId)],
    )
    return rows.map(({ event, data }) => ({
      event,
      ...(JSON.parse(data.toString()) as Record<string, unknown>),
    }))
  }

  return { pool, addProject, store, evaluate, statusOf, eventsOf }
}

/** Evaluates all rules as if it were `nowMs`, with calls stored and scored up to `untilMs`. */
async function evaluateAll(pool: pg.Pool, times: { nowMs: number; untilMs: number; statementMs: number }) {
  const { nowMs, untilMs, statementMs } = times
  await pool.query(`update alert_states set due_at = '2020-01-01Z'`)
  const known = () => Promise.resolve(untilMs)
  const round = () =>
    createAlertEvaluation({
      ...{
        pool,
        log: createLog('test', 'silent'),
        metrics: createMetrics(),
        clock: systemClock,
        statementMs,
      },
      ...createElection(pool, upkeepLocks.alertRules),
      ...{ onEvents: () => undefined, dashboardUrl: 'https://sluice.example' },
      ...{ storedUntil: known, scoredUntil: known, now: () => Promise.resolve(new Date(nowMs)) },
    })()
  // Two sinks at once.
  await Promise.all([round(), round()])
}

/** A call at this time. */
export const callAt = (projectId: string, atMs: number, changes: Partial<LoggedCall> = {}) =>
  sampleCall(projectId, { id: newId('request', atMs), ...changes })

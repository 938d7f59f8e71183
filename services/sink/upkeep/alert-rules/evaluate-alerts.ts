import type { PoolClient } from 'pg'
import { codeOf, SluiceError } from '#runtime/errors.ts'
import {
  addBuiltInRules,
  lockDueRules,
  measureAlertRules,
  saveStates,
  type DueRule,
} from '../../stores/alert-store.ts'
import { insertEvents } from '../../stores/outbox-store.ts'
import type { JobContext, Round } from '../upkeep-job.ts'
import { evaluateDue, lateAfterMs, type Progress } from './evaluate-due.ts'

/** Rules evaluated in one transaction. */
const batchSize = 100
/** A round ends after so long; the next goes on where it stopped. */
const roundMs = 45_000
/** A rule whose own statement takes longer is late, and tried again in five minutes. */
const longestStatementMs = 15_000
const retryMs = 5 * 60_000

export interface AlertEvaluationDependencies extends Pick<
  JobContext,
  'pool' | 'elect' | 'log' | 'metrics' | 'onEvents' | 'clock'
> {
  dashboardUrl: string
  /** Up to when calls are stored, and up to when they are scored; Unix milliseconds. */
  storedUntil: () => Promise<number | undefined>
  scoredUntil: () => Promise<number | undefined>
  now: () => Promise<Date>
  statementMs?: number
}

/**
 * Evaluates the alert rules that are due and raises their events in the transaction that moves their states.
 * A new process needs a minute to know how far the sinks are; rules wait for it up to five.
 */
export function createAlertEvaluation(dependencies: AlertEvaluationDependencies): Round {
  const { pool, elect, log, onEvents, clock, dashboardUrl, now } = dependencies
  const { statementMs = longestStatementMs } = dependencies
  const metrics = createAlertMetrics(dependencies)
  const readProgress = createProgress(dependencies)

  async function evaluateBatch(client: PoolClient, progress: Progress, limit: number): Promise<number> {
    await client.query(`set local statement_timeout = ${statementMs}`)
    const due = await lockDueRules(client, new Date(progress.nowMs), limit)
    if (due.length === 0) return 0
    const { evaluated, events } = await evaluateDue(client, due, progress, dashboardUrl)
    await saveStates(client, evaluated)
    await insertEvents(client, events)
    metrics.evaluated(evaluated.map(({ state }) => state.status))
    if (events.length > 0) onEvents()
    return due.length
  }

  /** The rule that is due longest takes too long to read: others must not wait for it. */
  async function postpone(client: PoolClient, nowMs: number): Promise<number> {
    const [due] = await lockDueRules(client, new Date(nowMs), 1)
    if (due === undefined) return 0
    await saveStates(client, [lateOf(due, nowMs)])
    metrics.failing()
    log.warn({ rule: due.ruleUuid, project: due.projectUuid }, 'alert rule takes too long to read')
    return 1
  }

  return async (signal) => {
    const progress = await readProgress((await now()).getTime())
    const begun = await elect((client) => addBuiltInRules(client, new Date(progress.nowMs)))
    if (begun === 'not_elected') return begun
    const endMs = clock.now() + roundMs
    let limit = batchSize
    for (;;) {
      const done = await elect((client) => evaluateBatch(client, progress, limit)).catch((error: unknown) => {
        if (!isTimeout(error)) throw error
        if (limit === 1) return elect((client) => postpone(client, progress.nowMs))
        limit = 1
        return limit
      })
      if (done === 'not_elected') return done
      if (done < limit) break
      if (clock.now() > endMs || signal?.aborted === true) return true
    }
    metrics.measured(await measureAlertRules(pool))
    return false
  }
}

function lateOf(due: DueRule, nowMs: number) {
  const { state } = due
  const since_ms = state.status === 'late' ? state.since_ms : nowMs
  const late = { ...state, status: 'late' as const, since_ms }
  return { due, state: late, value: null, compared: null, untilMs: null, dueAtMs: nowMs + retryMs }
}

/** Postgres cancelled a statement: 57014. */
function isTimeout(error: unknown): boolean {
  return error instanceof SluiceError && codeOf(error.cause) === '57014'
}

/** Kafka being away is no failure of the job: what it would say gets old, and rules become late. */
function createProgress({ storedUntil, scoredUntil, log }: AlertEvaluationDependencies) {
  let known: Pick<Progress, 'storedUntilMs' | 'scoredUntilMs'> = {
    storedUntilMs: undefined,
    scoredUntilMs: undefined,
  }
  let startedMs: number | undefined
  return async (nowMs: number): Promise<Progress> => {
    startedMs ??= nowMs
    try {
      known = { storedUntilMs: await storedUntil(), scoredUntilMs: await scoredUntil() }
    } catch (error) {
      if (!(error instanceof SluiceError) || error.retry === 'never') throw error
      log.warn({ err: error }, 'how far the sinks are is not known: alert rules may become late')
    }
    return { ...known, nowMs, isStarting: nowMs - startedMs <= lateAfterMs }
  }
}

function createAlertMetrics({ metrics }: Pick<AlertEvaluationDependencies, 'metrics'>) {
  const evaluated = metrics.counter(
    'sluice_sink_alert_rules_evaluated_total',
    'Evaluations of alert rules, by the status that they gave.',
    ['status'],
  )
  const failed = metrics.counter(
    'sluice_sink_alert_rules_failed_total',
    'Evaluations of alert rules that took too long.',
  )
  const rules = metrics.gauge(
    'sluice_alert_rules',
    'Enabled alert rules; of them those that fire, and those whose evaluation is late.',
    ['state'],
  )
  failed.inc(0)
  return {
    failing: () => failed.inc(),
    evaluated(statuses: readonly string[]) {
      for (const status of statuses) evaluated.inc({ status })
    },
    measured(counts: { rules: number; firing: number; late: number }) {
      rules.set({ state: 'enabled' }, counts.rules)
      rules.set({ state: 'firing' }, counts.firing)
      rules.set({ state: 'late' }, counts.late)
    },
  }
}

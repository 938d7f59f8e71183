import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { RedteamTransformation } from '#schemas/redteam-run.ts'
import type { OwaspCategory } from '#schemas/verdicts.ts'
import type { AttemptVerdict } from '../steps/decide-attempt.ts'
import type { PlannedAttempt } from '../steps/plan-attempts.ts'

/** An attempt without a verdict whose call is, or may be, recorded. */
export interface OpenAttempt {
  number: number
  requestId: string
  judgedBy: readonly string[]
  earlierTurns: number
  reason: string | null
}

/** An attempt once ingest has its call. */
export interface RecordedAttempt {
  number: number
  statusCode: number | null
  latencyMs: number | null
  costUsd: number | null
  /** Turns with answers before the last. */
  earlierTurns: number
  /** Set: there is no last answer to judge, or the attack ended early. */
  reason: string | null
}

export interface AttemptStore {
  /** Writes the plan; existing rows stay. `origins` are in its order. */
  plan(attempts: readonly PlannedAttempt[], origins?: readonly (object | null)[]): Promise<void>
  /** The next attempts not yet begun, after `after`. */
  planned(after: number, limit: number): Promise<PlannedAttempt[]>
  /**
   * Takes attempts for sending. Resolves to those that this process may send, each once in the life of a run.
   */
  begin(numbers: readonly number[]): Promise<Set<number>>
  /** Gives back attempts that were begun and never left this process. */
  release(numbers: readonly number[]): Promise<void>
  /** Settles attempts that a dead process had begun: recorded or lost, never sent again. */
  settleBegun(): Promise<number>
  noteRecorded(attempts: readonly RecordedAttempt[]): Promise<void>
  open(after: number, limit: number): Promise<OpenAttempt[]>
  judge(verdicts: readonly (AttemptVerdict & { number: number })[]): Promise<void>
  skipPlanned(): Promise<void>
  /** The run's cost, and the highest of one attempt; an interrupted one counts as much. */
  spent(): Promise<{ usd: number; maxUsd: number; hasUnknown: boolean }>
}

interface AttemptRow {
  number: number
  request_id: string
  probe_id: string
  category: OwaspCategory
  scorer: string
  judged_by: string[]
  transformation: RedteamTransformation
  repeat: number
  earlier_turns: number
  reason: string | null
}

/** The attempts of one run: each reaches the target at most once (docs/decisions/0061). */
export function createAttemptStore(pool: Pool, run: { id: string; projectId: string }): AttemptStore {
  const runUuid = idToUuid(run.id)
  const rowsOf: RowsOf = async <R extends object>(text: string, values: readonly unknown[] = []) =>
    (await query<R & Record<string, unknown>>(pool, text, [runUuid, ...values])).rows
  return {
    async plan(attempts, origins) {
      for (let at = 0; at < attempts.length; at += 2_000)
        await rowsOf(planSql, [
          idToUuid(run.projectId),
          ...planColumns(attempts.slice(at, at + 2_000), origins?.slice(at, at + 2_000)),
        ])
    },
    ...sendingPart(rowsOf),
    ...judgingPart(rowsOf),
    async skipPlanned() {
      await rowsOf(
        `update redteam_attempts set state = 'skipped' where run_id = $1 and state = 'planned' returning number`,
      )
    },
    async spent() {
      // The answer of an interrupted attempt was never seen: it has no latency, and its verdict replaces its
      // reason.
      const [row] = await rowsOf<{ usd: number; most: number; unknown: number; unpriced: number }>(
        `select coalesce(sum(cost_usd), 0)::float8 as usd, coalesce(max(cost_usd), 0)::float8 as most,
           count(*) filter (where cost_usd is null and latency_ms is null)::integer as unknown,
           count(*) filter (where cost_usd is null and latency_ms is not null)::integer as unpriced
         from redteam_attempts where run_id = $1 and state in ('recorded', 'judged')`,
      )
      const { usd = 0, most = 0, unknown = 0, unpriced = 0 } = row ?? {}
      return { usd: usd + unknown * most, maxUsd: most, hasUnknown: unpriced > 0 }
    },
  }
}

/** Runs a statement whose `$1` is the run. */
type RowsOf = <R extends object>(text: string, values?: readonly unknown[]) => Promise<R[]>

function sendingPart(
  rowsOf: RowsOf,
): Pick<AttemptStore, 'planned' | 'begin' | 'release' | 'settleBegun' | 'noteRecorded'> {
  return {
    planned: async (after, limit) =>
      (
        await rowsOf<AttemptRow>(
          `select * from redteam_attempts where run_id = $1 and state = 'planned' and number > $2 order by number limit $3`,
          [after, limit],
        )
      ).map(attemptOf),
    async begin(numbers) {
      const rows = await rowsOf<{ number: number }>(
        `update redteam_attempts set state = 'sending' where run_id = $1 and number = any($2::integer[]) and state = 'planned' returning number`,
        [numbers],
      )
      return new Set(rows.map(({ number }) => number))
    },
    async release(numbers) {
      await rowsOf(
        `update redteam_attempts set state = 'planned' where run_id = $1 and number = any($2::integer[]) and state = 'sending' returning number`,
        [numbers],
      )
    },
    settleBegun: async () =>
      (
        await rowsOf(
          `update redteam_attempts set state = 'recorded', reason = 'interrupted', recorded_at = now() where run_id = $1 and state = 'sending' returning number`,
        )
      ).length,
    async noteRecorded(attempts) {
      await rowsOf(recordedSql, [
        attempts.map(({ number }) => number),
        attempts.map(({ statusCode }) => statusCode),
        attempts.map(({ latencyMs }) => latencyMs),
        attempts.map(({ costUsd }) => costUsd),
        attempts.map(({ reason }) => reason),
        attempts.map(({ earlierTurns }) => earlierTurns),
      ])
    },
  }
}

function judgingPart(rowsOf: RowsOf): Pick<AttemptStore, 'open' | 'judge'> {
  return {
    open: async (after, limit) =>
      (
        await rowsOf<AttemptRow>(
          `select number, request_id, judged_by, earlier_turns, reason from redteam_attempts where run_id = $1 and state = 'recorded' and number > $2 order by number limit $3`,
          [after, limit],
        )
      ).map((row) => ({
        number: row.number,
        requestId: idFromUuid('request', row.request_id),
        judgedBy: row.judged_by,
        earlierTurns: row.earlier_turns,
        reason: row.reason,
      })),
    async judge(verdicts) {
      if (verdicts.length === 0) return
      const stored = verdicts.map(({ found_in, ...verdict }) => ({
        ...verdict,
        found_in: found_in === null ? null : idToUuid(found_in),
      }))
      await rowsOf(judgeSql, [JSON.stringify(stored)])
    },
  }
}

const planSql = `
  insert into redteam_attempts (run_id, project_id, number, request_id, probe_id, category, scorer, judged_by, transformation, repeat, origin, earlier_turns)
  select $1, $2, number, request_id, probe_id, category, scorer, string_to_array(judged_by, ','), transformation, repeat, origin, earlier_turns
  from unnest($3::integer[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[], $11::jsonb[], $12::integer[])
    as planned (number, request_id, probe_id, category, scorer, judged_by, transformation, repeat, origin, earlier_turns)
  on conflict do nothing`

function planColumns(attempts: readonly PlannedAttempt[], origins?: readonly (object | null)[]): unknown[] {
  return [
    attempts.map(({ number }) => number),
    attempts.map(({ requestId }) => idToUuid(requestId)),
    attempts.map(({ probeId }) => probeId),
    attempts.map(({ category }) => category),
    attempts.map(({ scorer }) => scorer),
    attempts.map(({ judgedBy }) => judgedBy.join(',')),
    attempts.map(({ transformation }) => transformation),
    attempts.map(({ repeat }) => repeat),
    attempts.map((_attempt, index) => {
      const origin = origins?.[index]
      return origin === undefined || origin === null ? null : JSON.stringify(origin)
    }),
    attempts.map(({ earlierTurns }) => earlierTurns),
  ]
}

const recordedSql = `
  update redteam_attempts a set state = 'recorded', recorded_at = now(), status_code = r.status_code, latency_ms = r.latency_ms,
    cost_usd = r.cost_usd, reason = r.reason, earlier_turns = r.earlier_turns
  from unnest($2::integer[], $3::integer[], $4::float8[], $5::float8[], $6::text[], $7::integer[])
    as r (number, status_code, latency_ms, cost_usd, reason, earlier_turns)
  where a.run_id = $1 and a.number = r.number and a.state = 'sending'`

// Only attempts without a verdict get one: two processes with the same scores cannot disagree.
const judgeSql = `
  update redteam_attempts a set state = 'judged', judged_at = now(), verdict = v.verdict, severity = v.severity, failed_by = v.failed_by,
    detected = v.detected, reason = v.reason, found_in = v.found_in
  from jsonb_to_recordset($2::jsonb)
    as v (number integer, verdict text, severity text, failed_by text[], detected boolean, reason text, found_in uuid)
  where a.run_id = $1 and a.number = v.number and a.state = 'recorded'`

function attemptOf(row: AttemptRow): PlannedAttempt {
  return {
    number: row.number,
    requestId: idFromUuid('request', row.request_id),
    probeId: row.probe_id,
    category: row.category,
    scorer: row.scorer,
    judgedBy: row.judged_by,
    transformation: row.transformation,
    repeat: row.repeat,
    earlierTurns: row.earlier_turns,
  }
}

import type { Pool } from 'pg'
import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { inTransaction } from '#runtime/postgres.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { invalidInput, Problem, found } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { faultOfScorerName } from './fault-of-scorer-name.ts'
import { writeAudit } from '../stores/audit-store.ts'
import { Conditions } from '../stores/conditions.ts'
import { listRows } from '../stores/list-rows.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { withNotes } from './note-rows.ts'
import { diffSchema, estimateSchema, runSchema } from './score-run-schemas.ts'
import { diffRuns } from '../stores/run-diff-store.ts'
import {
  estimateRun,
  findRun,
  insertRun,
  moveRun,
  presentRun,
  scoreRunStatuses,
  scorersWithoutScores,
  type ScoreRun,
  type ScoreRunRow,
  type ScoreRunStatus,
} from '../stores/score-run-store.ts'

export interface ScoreRunRoutesOptions {
  databases: ProjectDatabases
  pool: Pool
  sealer: Sealer
  clock: Clock
}

const common = { access: 'operator', tag: 'Score runs' } as const
const runParams = z.object({ id: idField('run') })
const missing = { 404: 'There is no such run.' } as const
const reply = { status: 200, description: 'The run.', schema: runSchema } as const

/**
 * The operator's routes for scoring history again. The sinks carry runs out; here they are ordered and read.
 */
export function scoreRunRoutes(options: ScoreRunRoutesOptions): Route[] {
  return [
    orderRoute(options),
    listRoute(options),
    getRoute(options),
    diffRoute(options),
    moveRoute(options, {
      verb: 'cancel',
      summary: 'Stop queueing calls. Queued ones are still scored.',
      from: ['queued', 'feeding', 'scoring'],
      to: 'cancelled',
    }),
    moveRoute(options, {
      verb: 'promote',
      summary:
        'Make its scores live: they are exchanged with the live scores of the same calls and scorers. Promoting again undoes it.',
      from: ['done', 'promoted'],
      to: 'promoting',
    }),
  ]
}

function orderRoute({ pool, clock }: ScoreRunRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/score-runs',
    summary:
      "Score past calls again in a run of their own. A dry run counts them and estimates the judge's cost.",
    body: z.strictObject({
      start: timeField.describe('Start of the range of call times.'),
      end: timeField.describe('End of the range, exclusive.'),
      project_id: idField('project').optional().describe('Absent: all projects.'),
      scorers: z
        .array(textField(100))
        .min(1)
        .max(100)
        .optional()
        .describe('Built-in and custom scorers by name. `problem` names those that scored nothing recently.'),
      source: z
        .enum(['postgres', 'kafka'])
        .default('postgres')
        .describe('`kafka`: as they were logged, as far back as the topic is kept.'),
      alert: z.boolean().default(false).describe('Raise events for failing scores, as live scoring does.'),
      dry_run: z.boolean().default(false),
    }),
    reply: {
      status: 200,
      description: 'The estimate; `run` is null for a dry run.',
      schema: estimateSchema,
    },
    async handle({ principal, body }) {
      const { start, end, project_id, scorers, source, alert, dry_run: isDry } = body
      if (end <= start) throw invalidInput([{ path: 'end', message: 'must be later than start' }])
      const unproven = await scorersWithoutScores(pool, scorers ?? [])
      const faults = unproven.map(faultOfScorerName).filter((fault) => fault !== undefined)
      if (faults.length > 0) throw invalidInput(faults.map((message) => ({ path: 'scorers', message })))
      const order = { projectId: project_id, startMs: start, endMs: end, scorers, source, alert }
      const problem = problemOf(unproven)
      const estimate = { ...(await estimateRun(pool, order)), problem }
      if (isDry) return { json: { run: null, ...estimate } }
      const nowMs = clock.now()
      const id = newId('run', nowMs)
      const projectId = project_id ?? null
      await inTransaction(pool, async (client) => {
        await insertRun(client, id, order, { callsTotal: estimate.calls, problem, nowMs })
        const detail = { start: new Date(start), end: new Date(end), scorers, source, alert }
        await writeAudit(
          client,
          principal,
          { action: 'score_run.ordered', subject: id, projectId, detail },
          nowMs,
        )
      })
      return { json: { run: await existing(pool, id), ...estimate } }
    },
  })
}

/** Stored with the run, because a run without findings and a run without a scorer look alike. */
function problemOf(unproven: readonly string[]): string | null {
  if (unproven.length === 0) return null
  const names = unproven.map((name) => JSON.stringify(name)).join(', ')
  return `when this was asked for no scorer called ${names} had scored a call lately; by one that the scorers' file does not have there are no scores`
}

function listRoute({ databases }: ScoreRunRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/score-runs',
    summary: 'Runs, newest first.',
    query: z.strictObject({
      ...pagingFields,
      project_id: idField('project').optional(),
      status: z.enum(scoreRunStatuses).optional(),
    }),
    reply: { status: 200, description: 'Runs.', schema: listOf(runSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'run')
      const conditions = new Conditions()
      conditions.equal('r.status', query.status)
      const { rows, counted } = await listRows<ScoreRunRow>(
        databases.of(principal, query.project_id),
        paging,
        {
          columns: 'r.*',
          from: 'score_runs r',
          alias: 'r',
          timeColumn: 'r.created_at',
          idColumn: 'r.id',
          conditions,
        },
      )
      return { json: envelope(paging, rows.map(presentRun), counted) }
    },
  })
}

function getRoute({ pool }: ScoreRunRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/score-runs/{id}',
    summary: 'One run with its progress.',
    params: runParams,
    reply,
    problems: missing,
    handle: async ({ params }) => ({ json: await existing(pool, params.id) }),
  })
}

function diffRoute({ databases, pool, sealer }: ScoreRunRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/score-runs/{id}/diff',
    summary: "The differences of its scores from another run's of the same calls, by scorer, with examples.",
    params: runParams,
    query: z.strictObject({
      against: z
        .union([z.literal('live'), idField('run')])
        .default('live')
        .describe('The run to compare with; `live`: the live run of each project.'),
    }),
    reply: { status: 200, description: 'The differences.', schema: diffSchema },
    problems: missing,
    async handle({ principal, params, query }) {
      const run = await existing(pool, params.id)
      const { against } = query
      const diff = await diffRuns(pool, run, against === 'live' ? undefined : against)
      const calls = diff.examples.map((each) => ({
        ...each,
        id: each.request_id,
        created_at: each.request_created_at,
      }))
      const database = databases.of(principal, run.project_id ?? undefined)
      const noted = await withNotes(database, { principal, sealer }, calls)
      const examples = diff.examples.map((each, index) => ({
        ...each,
        preview: noted[index]?.preview ?? null,
      }))
      return { json: { run_id: run.id, against, ...diff, examples } }
    },
  })
}

interface Move {
  verb: 'cancel' | 'promote'
  summary: string
  from: readonly ScoreRunStatus[]
  to: ScoreRunStatus
}

function moveRoute({ pool, clock }: ScoreRunRoutesOptions, { verb, summary, from, to }: Move): Route {
  return route({
    ...common,
    method: 'post',
    path: `/api/score-runs/{id}/${verb}`,
    summary,
    params: runParams,
    reply,
    problems: { ...missing, 409: `Its status is none of ${from.join(', ')}.` },
    async handle({ principal, params }) {
      const { id, status, project_id: projectId } = await existing(pool, params.id)
      const isMoved = await inTransaction(pool, async (client) => {
        if (!(await moveRun(client, id, from, to))) return false
        const entry = { action: `score_run.${verb}`, subject: id, projectId }
        await writeAudit(client, principal, entry, clock.now())
        return true
      })
      if (!isMoved && status !== to)
        throw new Problem(
          409,
          'RUN_STATUS',
          `${id} is ${status}: ${verb} takes runs that are ${from.join(' or ')}`,
        )
      return { json: await existing(pool, id) }
    },
  })
}

async function existing(pool: Pool, id: string): Promise<ScoreRun> {
  return found(await findRun(pool, id), 'run', id)
}

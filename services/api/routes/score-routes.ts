import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { scoreLabels, severities } from '#schemas/verdicts.ts'
import { idField, textField, timeField } from '#services/ingest/http/fields.ts'
import { invalidInput } from '#services/ingest/http/problem.ts'
import { route, type Route } from '#services/ingest/http/route.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { createScoreStore } from '../stores/score-store.ts'
import { presentScore, scoreSchema } from './present-score.ts'

const summaryDays = 30
const dayMs = 86_400_000

const projectField = {
  project_id: idField('project').optional().describe("Required of the operator; a key's is its own."),
}

const filterSchema = z.strictObject({
  ...pagingFields,
  ...projectField,
  request_id: idField('request').optional(),
  scorer_name: textField(100).optional(),
  min_score: z
    .string()
    .regex(/^\d(\.\d+)?$/, 'must be a number from 1 to 5')
    .transform(Number)
    .pipe(z.number().min(1).max(5))
    .optional(),
  label: z.enum(scoreLabels).optional(),
  severity: z.enum(severities).optional(),
  run_id: idField('run').optional().describe('Of a replay; absent: the live run.'),
  start: timeField.optional().describe('Of requests made from then on.'),
  end: timeField.optional().describe('Of requests made before then.'),
})

const count = z.number().int()
const summarySchema = z.object({
  project_id: z.string(),
  start: z.iso.datetime(),
  end: z.iso.datetime(),
  scorers: z.array(
    z.object({
      scorer_name: z.string(),
      total: count,
      safe: count,
      unsafe: count,
      unscored: count,
      average_score: z.number().nullable(),
      by_severity: z.object({ critical: count, high: count, medium: count }),
    }),
  ),
})

interface ScoreRoutesOptions {
  databases: ProjectDatabases
  sealer: Sealer
  clock: Clock
}

/** Scores, and counts of them. */
export function scoreRoutes(options: ScoreRoutesOptions): Route[] {
  return [listRoute(options), summaryRoute(options)]
}

const common = { access: 'read', tag: 'Safety scores' } as const

function listRoute({ databases, sealer, clock }: ScoreRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/safety-scores',
    summary: 'List scores, those of the newest requests first.',
    query: filterSchema,
    reply: { status: 200, description: 'Scores.', schema: listOf(scoreSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'score')
      const store = createScoreStore(databases.ofOne(principal, query.project_id))
      const { items, counted } = await store.list(query, paging, clock.now())
      return {
        json: envelope(
          paging,
          items.map((score) => presentScore(score, sealer)),
          counted,
        ),
      }
    },
  })
}

function summaryRoute({ databases, clock }: ScoreRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/safety-scores/summary',
    summary: 'Counts of scores by scorer. Without start and end: the last 30 days.',
    query: z.strictObject({ ...projectField, start: timeField.optional(), end: timeField.optional() }),
    reply: { status: 200, description: 'Counts.', schema: summarySchema },
    async handle({ principal, query }) {
      const endMs = query.end ?? clock.now()
      const startMs = query.start ?? endMs - summaryDays * dayMs
      if (startMs > endMs) throw invalidInput([{ path: 'end', message: 'is before start' }])
      const database = databases.ofOne(principal, query.project_id)
      const scorers = await createScoreStore(database).summarise(startMs, endMs)
      return {
        json: {
          project_id: database.scope.projectId,
          start: new Date(startMs).toISOString(),
          end: new Date(endMs).toISOString(),
          scorers,
        },
      }
    },
  })
}

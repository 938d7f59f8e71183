import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { scoreLabels, severities } from '#schemas/verdicts.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { route, type Reply, type Route } from '#http/route.ts'
import { taggedJson, tagOf } from '#http/entity-tag.ts'
import { envelope, listOf, pagingFields, readPaging, refuseTogether } from '../http/paging.ts'
import { readPollCursor, writePollCursor } from '../http/poll-cursor.ts'
import { recordSources } from '../http/source-filter.ts'
import {
  countedRangeFields,
  presentRange,
  rangeFields,
  readRange,
  refuseEndBeforeStart,
} from '../http/time-range.ts'
import { pollScores } from '../stores/poll-scores.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { readScorers } from '../stores/rollup-reads.ts'
import { createScoreStore, type StoredScore } from '../stores/score-store.ts'
import { presentScore, scoreSchema, shownTo } from './present-score.ts'

const summaryDays = 30

const projectField = {
  project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
}

const runField = {
  run_id: idField('run')
    .optional()
    .describe("A replay's run. Absent: the live run, which listed scores name."),
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
    .meta({ type: 'number', minimum: 1, maximum: 5 })
    .optional(),
  label: z.enum(scoreLabels).optional(),
  severity: z.enum(severities).optional(),
  suppressed: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('Whether a suppression marks it as a known false alarm.'),
  ...recordSources.fields,
  ...runField,
  since: z
    .string()
    .max(100)
    .optional()
    .describe(
      'For polling: `now`, then each `next_since`. Every score once, in the order of storing; without run_id, of requests of the last 15 days. With page_size or limit.',
    ),
  start: timeField.optional().describe('Start of the range of request times.'),
  end: timeField.optional().describe('End of the range, exclusive.'),
})

const polledSchema = z
  .object({
    items: z.array(scoreSchema).optional(),
    data: z.array(scoreSchema).optional(),
    next_since: z.string().describe('Send it as the next `since`.'),
    has_more: z.boolean().describe('Whether more scores are available now.'),
  })
  .describe('With `since`.')

const count = z.number().int()
const summarySchema = z.object({
  project_id: z.string(),
  ...countedRangeFields,
  scorers: z.array(
    z.object({
      scorer_name: z.string().nullable().describe('Null: the scorers beyond the 3,000 counted separately.'),
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
    polled: true,
    reply: {
      status: 200,
      description: 'Scores.',
      schema: z.union([listOf(scoreSchema), polledSchema]),
    },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'score')
      refuseEndBeforeStart(query)
      const filters = { ...query, ...recordSources.read(query) }
      const database = databases.ofOne(principal, query.project_id)
      if (query.since !== undefined) {
        refuseTogether(query, 'since', ['page', 'cursor'])
        const from = query.since === 'now' ? 'now' : readPollCursor(query.since)
        const { items, next } = await pollScores(database, filters, from, {
          limit: paging.limit,
          nowMs: clock.now(),
        })
        const shown = { next_since: writePollCursor(next), has_more: items.length > paging.limit }
        return answer(
          { ...shown, form: paging.form },
          shownTo(principal, items.slice(0, paging.limit)),
          sealer,
          (scores) => ({
            [paging.form]: scores,
            ...shown,
          }),
        )
      }
      const { items, counted } = await createScoreStore(database).list(filters, paging, clock.now())
      return answer({ paging, counted }, shownTo(principal, items), sealer, (scores) =>
        envelope(paging, scores, counted),
      )
    },
  })
}

/**
 * Details are only opened when the client's scores are out of date. They never change; erased ones are gone.
 */
function answer(
  around: object,
  scores: readonly StoredScore[],
  sealer: Sealer,
  shape: (presented: ReturnType<typeof presentScore>[]) => object,
): Reply {
  const seen = scores.map(({ details, ...score }) => ({ ...score, details: details?.key_id }))
  return {
    etag: tagOf([around, seen]),
    jsonText: () => JSON.stringify(shape(scores.map((score) => presentScore(score, sealer)))),
  }
}

function summaryRoute({ databases, clock }: ScoreRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/safety-scores/summary',
    summary: 'Counts of scores by scorer. Without start and end: the last 30 days.',
    query: z.strictObject({
      ...projectField,
      ...rangeFields,
      ...recordSources.fields,
      ...runField,
    }),
    polled: true,
    reply: { status: 200, description: 'Counts.', schema: summarySchema },
    async handle({ principal, query }) {
      const range = readRange(query, clock.now(), summaryDays)
      const database = databases.ofOne(principal, query.project_id)
      const rows = await readScorers(database, {
        ...range,
        ...recordSources.read(query),
        run_id: query.run_id,
      })
      return taggedJson({
        project_id: database.scope.projectId,
        ...presentRange(range),
        scorers: rows.map(summaryOf),
      })
    },
  })
}

function summaryOf(
  row: Readonly<Record<string, string | null>>,
): z.output<typeof summarySchema>['scorers'][number] {
  const sum = (name: string) => Number(row[name])
  return {
    scorer_name: row['scorer_name'] ?? null,
    total: sum('scores'),
    safe: sum('safe'),
    unsafe: sum('unsafe'),
    unscored: sum('unscored'),
    average_score: sum('valued') === 0 ? null : sum('value_micros') / 1e6 / sum('valued'),
    by_severity: { critical: sum('critical'), high: sum('high'), medium: sum('medium') },
  }
}

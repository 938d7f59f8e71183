import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { idField, textField } from '#http/fields.ts'
import { invalidInput } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { reportSources } from '../http/source-filter.ts'
import {
  countedRangeFields,
  presentRange,
  rangeFields,
  readRange,
  type TimeRange,
} from '../http/time-range.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import {
  groupings,
  percentileOf,
  readSeries,
  sumRows,
  type Grouping,
  type StatsRow,
} from '../stores/rollup-reads.ts'
import { addVerdicts, verdictSums } from '../stores/verdict-reads.ts'

const hourMs = 3_600_000
/** Points of one answer, over all series. */
const maxPoints = 5_000
/** As many as a chart shows; the shortest step that gives no more is used. */
const pointsWanted = 120
const stepsHours = [1, 3, 6, 12, 24, 7 * 24, 28 * 24]

const groupingNames = Object.keys(groupings) as [Grouping, ...Grouping[]]
const filterSchema = z.strictObject({
  project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
  ...rangeFields,
  step: z
    .string()
    .regex(/^[1-9]\d{0,3}[hd]$/, 'must be hours or days, like 6h or 1d')
    .transform((text) => Number(text.slice(0, -1)) * (text.endsWith('d') ? 24 : 1))
    .optional()
    .describe(
      'Length of a step: `1h`, `6h`, `1d`, `7d`. Absent: the shortest that gives at most 120 points.',
    ),
  by: z
    .enum(groupingNames)
    .optional()
    .describe('One series for each of the 20 largest groups, and one for the rest.'),
  ...reportSources.fields,
  model: textField(256).optional(),
  provider: textField(64).optional(),
  agent_name: textField(256).optional(),
})

const count = z.number()
const callPoint = z.object({
  calls: count,
  failed: count,
  aborted: count,
  prompt_tokens: count,
  completion_tokens: count,
  cached_tokens: count,
  reasoning_tokens: count,
  priced: count.describe('Calls with a known cost.'),
  cost_usd: count,
  safe: count.describe('Calls by their worst label; the rest have no score yet.'),
  unsafe: count,
  unscored: count,
  no_finding: count.describe(
    'Calls by what all scorers say together (docs/verdicts.md), beside `unsafe`. Older calls are missing until theirs is derived.',
  ),
  partly_read: count,
  not_read: count,
  scores_decided: count.describe('Scores of those calls that are `safe` or `unsafe`.'),
  scores_applicable: count.describe('Scores of scorers that those calls have something for.'),
  critical: count,
  high: count,
  medium: count,
  latency_p50_ms: count.nullable().describe('Within 20%.'),
  latency_p95_ms: count.nullable(),
  latency_p99_ms: count.nullable(),
})
const scorePoint = z.object({
  scores: count,
  safe: count,
  unsafe: count,
  unscored: count,
  average_score: count.nullable(),
})
const at = { at: z.iso.datetime() }
const statsSchema = z.object({
  project_id: z.string(),
  ...countedRangeFields,
  step_hours: z.number().int(),
  by: z.enum(groupingNames).nullable(),
  series: z.array(
    z.object({
      name: z.string().nullable().describe("The group's value; null: calls without one, or the rest."),
      is_other: z.boolean().describe('Whether this is the rest.'),
      total: z.union([callPoint, scorePoint]).describe('Over all points.'),
      points: z
        .array(z.union([callPoint.extend(at), scorePoint.extend(at)]))
        .describe('Empty steps are left out. With `by=scorer`: scores.'),
    }),
  ),
})

interface StatsRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

/** Counts over time. */
export function statsRoutes({ databases, clock }: StatsRoutesOptions): Route[] {
  return [
    route({
      access: 'read',
      tag: 'Reports',
      method: 'get',
      path: '/api/stats',
      summary: 'Calls, verdicts, tokens, cost and latency over time. Without start: the last day.',
      query: filterSchema,
      polled: true,
      reply: { status: 200, description: 'Series of points.', schema: statsSchema },
      async handle({ principal, query }) {
        const { by, step, ...filters } = query
        const range = readRange(query, clock.now(), 1)
        const stepHours = step ?? chooseStep(range)
        refuseTooMany(range, stepHours, by)
        refuseForScores(by, filters)
        const database = databases.ofOne(principal, query.project_id)
        const counted = { ...filters, ...reportSources.read(query), ...range }
        const series = await readSeries(database, counted, stepHours, by)
        const rows =
          by === 'scorer' ? series : await addVerdicts(database, counted, { stepHours, by }, series)
        return taggedJson({
          project_id: database.scope.projectId,
          ...presentRange(range),
          step_hours: stepHours,
          by: by ?? null,
          series: seriesOf(rows, by),
        })
      },
    }),
  ]
}

function chooseStep({ startMs, endMs }: TimeRange): number {
  const hours = (endMs - startMs) / hourMs
  return stepsHours.find((step) => hours / step <= pointsWanted) ?? 28 * 24
}

function refuseTooMany({ startMs, endMs }: TimeRange, stepHours: number, by: Grouping | undefined): void {
  const points = ((endMs - startMs) / hourMs / stepHours) * (by === undefined ? 1 : 21)
  if (points > maxPoints) {
    throw invalidInput([
      { path: 'step', message: `gives up to ${Math.ceil(points)} points; at most ${maxPoints} are answered` },
    ])
  }
}

/** Score counts have no dimensions of the call. */
function refuseForScores(by: Grouping | undefined, filters: Readonly<Record<string, unknown>>): void {
  if (by !== 'scorer') return
  const other = ['model', 'provider', 'agent_name'].find((name) => filters[name] !== undefined)
  if (other !== undefined)
    throw invalidInput([{ path: other, message: 'cannot be used together with by=scorer' }])
}

type SummedRow = Readonly<Record<string, unknown>>

function seriesOf(
  rows: readonly StatsRow[],
  by: Grouping | undefined,
): z.output<typeof statsSchema>['series'] {
  const present = by === 'scorer' ? presentScores : presentCalls
  return [...Map.groupBy(rows, ({ rank }) => rank)].map(([rank, group]) => ({
    name: group[0]?.name ?? null,
    is_other: rank === null,
    total: present(sumRows(group, verdictSums)),
    points: group.map((row) => ({ at: row.at.toISOString(), ...present(row) })),
  }))
}

function presentCalls(row: SummedRow): z.output<typeof callPoint> {
  const sum = (name: string) => Number(row[name])
  return {
    calls: sum('calls'),
    failed: sum('failed'),
    aborted: sum('aborted'),
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    cached_tokens: sum('cached_tokens'),
    reasoning_tokens: sum('reasoning_tokens'),
    priced: sum('priced'),
    cost_usd: sum('cost_picodollars') / 1e12,
    safe: sum('verdict_safe'),
    unsafe: sum('verdict_unsafe'),
    unscored: sum('verdict_unscored'),
    no_finding: sum('verdict_is_no_finding'),
    partly_read: sum('verdict_is_partly_read'),
    not_read: sum('verdict_is_not_read'),
    scores_decided: sum('scores_decided'),
    scores_applicable: sum('scores_applicable'),
    critical: sum('severity_critical'),
    high: sum('severity_high'),
    medium: sum('severity_medium'),
    latency_p50_ms: percentileOf(row, 0.5),
    latency_p95_ms: percentileOf(row, 0.95),
    latency_p99_ms: percentileOf(row, 0.99),
  }
}

function presentScores(row: SummedRow): z.output<typeof scorePoint> {
  const sum = (name: string) => Number(row[name])
  return {
    scores: sum('scores'),
    safe: sum('safe'),
    unsafe: sum('unsafe'),
    unscored: sum('unscored'),
    average_score: sum('valued') === 0 ? null : sum('value_micros') / 1e6 / sum('valued'),
  }
}

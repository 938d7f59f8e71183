import { Readable } from 'node:stream'
import type { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Principal } from '#http/access/principal.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { invalidInput } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { reportSources } from '../http/source-filter.ts'
import { presentRange, readRange, type TimeRange } from '../http/time-range.ts'
import { readDimensions, type Dimension } from '../stores/cost-dimensions.ts'
import { readCosts } from '../stores/cost-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { costQuery, costSchema, type CostAnswer } from './cost-schemas.ts'
import { costsAsCsv, presentCosts } from './present-costs.ts'

const hourMs = 3_600_000
const dayHours = 24
const defaultDays = 30
/** The longest range in hours for each step. Days are read from a twentieth of the rows of hours. */
const steps = [
  [48, 1],
  [120 * dayHours, dayHours],
  [840 * dayHours, 7 * dayHours],
] as const

interface CostRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

/** What calls cost, by what they have in common. */
export function costRoutes(options: CostRoutesOptions): Route[] {
  const common = { access: 'read', tag: 'Reports', method: 'get', query: costQuery } as const
  return [
    route({
      ...common,
      path: '/api/costs',
      summary:
        'Cost, tokens, calls, failures, unsafe calls and latency by group, over time and against the period before. Without start: 30 days.',
      polled: true,
      reply: { status: 200, description: 'At most 300 groups, and the rest as one.', schema: costSchema },
      handle: async ({ principal, query }) => taggedJson(await answer(options, principal, query)),
    }),
    route({
      ...common,
      path: '/api/costs/export',
      summary: 'The same groups as a file.',
      reply: { status: 200, description: 'A line a group, and one of all.', contentTypes: ['text/csv'] },
      async handle({ principal, query }) {
        const csv = costsAsCsv(await answer(options, principal, query))
        return {
          headers: { 'content-disposition': 'attachment; filename="costs.csv"' },
          stream: { contentType: 'text/csv', chunks: Readable.from([csv]) },
        }
      },
    }),
  ]
}

async function answer(
  { databases, clock }: CostRoutesOptions,
  principal: Principal,
  query: z.output<typeof costQuery>,
): Promise<CostAnswer> {
  const dimensions = dimensionsOf(query.by)
  const database = databases.of(principal, query.project_id)
  const { projectId } = database.scope
  if (projectId === null) refuseForEvery(dimensions, query.user_id)
  const range = readRange(query, clock.now(), defaultDays)
  const before = rangeBefore(range, query.previous_start)
  const stepHours = stepOf(range)
  const counted = { stepHours, user_id: query.user_id, ...reportSources.read(query) }
  const costs = await readCosts(database, {
    dimensions,
    order: query.order,
    range: { ...counted, ...range },
    before: { ...counted, ...before },
  })
  return {
    project_id: projectId,
    ...presentRange(range),
    previous_start: presentRange(before).start,
    by: dimensions.map(({ name }) => name),
    step_hours: stepHours,
    counted_from: costs.countedFromMs === undefined ? null : new Date(costs.countedFromMs).toISOString(),
    named_from: costs.namedFrom ?? null,
    ...presentCosts(costs, dimensions),
  }
}

function dimensionsOf(by: string): Dimension[] {
  const dimensions = readDimensions(by)
  if (typeof dimensions === 'string') throw invalidInput([{ path: 'by', message: dimensions }])
  return dimensions
}

/** Users and metadata mean something in their project only. */
function refuseForEvery(dimensions: readonly Dimension[], user: string | undefined): void {
  if (user !== undefined) throw invalidInput([{ path: 'project_id', message: 'is required with user_id' }])
  const [first, second] = dimensions
  if (second !== undefined || first === undefined || 'metadataKey' in first || first.column === 'user') {
    const by = dimensions.map(({ name }) => name).join()
    throw invalidInput([{ path: 'project_id', message: `is required with by=${by}` }])
  }
}

function rangeBefore({ startMs, endMs }: TimeRange, previousStart: number | undefined): TimeRange {
  const start = Math.floor((previousStart ?? startMs - (endMs - startMs)) / hourMs) * hourMs
  if (start >= startMs) throw invalidInput([{ path: 'previous_start', message: 'is not before start' }])
  return { startMs: Math.max(0, start), endMs: startMs }
}

function stepOf({ startMs, endMs }: TimeRange): number {
  const hours = (endMs - startMs) / hourMs
  return steps.find(([longest]) => hours <= longest)?.[1] ?? 28 * dayHours
}

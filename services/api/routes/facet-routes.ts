import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { scoreLabels, severities } from '#schemas/verdicts.ts'
import { idField, textField } from '#services/ingest/http/fields.ts'
import { route, type Route } from '#services/ingest/http/route.ts'
import { taggedJson } from '../http/entity-tag.ts'
import { reportSources } from '../http/source-filter.ts'
import { countedRangeFields, presentRange, rangeFields, readRange } from '../http/time-range.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { readCallFacets, readScorers } from '../stores/rollup-reads.ts'
import { createToolStore } from '../stores/tool-store.ts'

const facetDays = 30
/** Values of one facet: what a person still reads through. */
const maxValues = 100
const worstFirst = severities.toReversed()

const values = z.array(z.object({ value: z.string(), count: z.number() }))
const facetsSchema = z.object({
  project_id: z.string(),
  ...countedRangeFields,
  calls: z.number(),
  model: values,
  provider: values,
  agent_name: values,
  source: values.describe('Every one, whichever the other numbers are of.'),
  tool_name: values.describe('Recorded calls of tools.'),
  scorer_name: values.describe('Scores.'),
  label: values.describe(
    'Calls by their worst label; `pending` has no score yet. With scorer_name by what that scorer said, as then in the list.',
  ),
  severity: values.describe("The worst, or with scorer_name that scorer's."),
  status: values.describe('`failed`: with an error, or a status of 400 and more; `aborted`: broken off.'),
})

interface FacetRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

/** What there is to filter by. */
export function facetRoutes({ databases, clock }: FacetRoutesOptions): Route[] {
  return [
    route({
      access: 'read',
      tag: 'Requests',
      method: 'get',
      path: '/api/requests/facets',
      summary:
        'The values to filter by and how often each occurs, most frequent first. Without start: 30 days.',
      query: z.strictObject({
        project_id: idField('project').optional().describe("Required of the operator; a key's is its own."),
        ...rangeFields,
        ...reportSources.fields,
        scorer_name: textField(100).optional().describe('Whose labels and severities are counted.'),
      }),
      polled: true,
      reply: { status: 200, description: 'Up to 100 values of each.', schema: facetsSchema },
      async handle({ principal, query }) {
        const range = readRange(query, clock.now(), facetDays)
        const filters = { ...range, ...reportSources.read(query) }
        const database = databases.ofOne(principal, query.project_id)
        const [calls, scorers, tools] = await Promise.all([
          readCallFacets(database, filters, maxValues),
          readScorers(database, filters),
          createToolStore(database).counts(filters, maxValues),
        ])
        return taggedJson({
          project_id: database.scope.projectId,
          ...presentRange(range),
          calls: calls.sumOf('calls'),
          ...calls.values,
          tool_name: tools,
          scorer_name: mostFrequent(scorers.map((row) => [row['scorer_name'], Number(row['scores'])])),
          status: statusFacet(calls.sumOf),
          ...(query.scorer_name === undefined
            ? worstFacets(calls.sumOf)
            : scorerFacets(scorers.find((row) => row['scorer_name'] === query.scorer_name))),
        } satisfies z.output<typeof facetsSchema>)
      },
    }),
  ]
}

/** Of all scorers together. */
function worstFacets(sumOf: (name: string) => number) {
  const labels = scoreLabels.map((label): [string, number] => [label, sumOf(`verdict_${label}`)])
  const pending = sumOf('calls') - labels.reduce((sum, [, scored]) => sum + scored, 0)
  return {
    label: mostFrequent([...labels, ['pending', pending]]),
    severity: mostFrequent(worstFirst.map((severity) => [severity, sumOf(`severity_${severity}`)])),
  }
}

/** Of one; undefined: it said nothing. */
function scorerFacets(row: Readonly<Record<string, string | null>> = {}) {
  const counted = (names: readonly string[]) =>
    mostFrequent(names.map((name) => [name, Number(row[name] ?? 0)]))
  return { label: counted(scoreLabels), severity: counted(worstFirst) }
}

function statusFacet(sumOf: (name: string) => number) {
  return mostFrequent([
    ...['2xx', '3xx', '4xx', '5xx'].map((status): [string, number] => [status, sumOf(`status_${status}`)]),
    ['failed', sumOf('failed')],
    ['aborted', sumOf('aborted')],
  ])
}

function mostFrequent(
  counted: readonly (readonly [string | null | undefined, number])[],
): z.output<typeof values> {
  return counted
    .flatMap(([value, count]) =>
      value === null || value === undefined || count <= 0 ? [] : [{ value, count }],
    )
    .sort((one, other) => other.count - one.count)
    .slice(0, maxValues)
}

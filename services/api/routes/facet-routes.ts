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
import { statusFilters } from '../stores/select-requests.ts'
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
  scorer_name: values.describe('Scores, of the scorers that are counted apart.'),
  label: values.describe(
    'Calls by their worst label; `pending` has no score yet. With scorer_name by what that scorer said, as then in the list.',
  ),
  severity: values.describe("The worst, or with scorer_name that scorer's."),
  status: values.describe('`failed`: with an error, or a status of 400 and more; `aborted`: broken off.'),
  scores_are_exact: z
    .literal(false)
    .optional()
    .describe(
      'Present with scorer_name where scores of many scorers are counted together: label and severity then say how many there are at least, be it 0.',
    ),
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
            : scorerFacets(scorers, query.scorer_name)),
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

/** Of one. What is counted together may be of any scorer: its labels and severities are offered as well. */
function scorerFacets(scorers: Readonly<Record<string, string | null>>[], name: string) {
  const own = scorers.find((row) => row['scorer_name'] === name)
  const together = scorers.find((row) => row['scorer_name'] === null && Number(row['scores']) > 0)
  const counted = (names: readonly string[]) =>
    names
      .filter((value) => Number(own?.[value] ?? 0) + Number(together?.[value] ?? 0) > 0)
      .map((value) => ({ value, count: Number(own?.[value] ?? 0) }))
      .toSorted((one, other) => other.count - one.count)
  const exactness = together === undefined ? {} : { scores_are_exact: false as const }
  return { label: counted(scoreLabels), severity: counted(worstFirst), ...exactness }
}

/** The values that the list takes: hardly anybody looks for what went well. */
function statusFacet(sumOf: (name: string) => number) {
  return mostFrequent(
    statusFilters.map((status) => [status, sumOf(status.endsWith('xx') ? `status_${status}` : status)]),
  )
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

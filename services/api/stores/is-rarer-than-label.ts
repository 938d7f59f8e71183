import { Conditions } from './conditions.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { rollupRows } from './rollup-source.ts'
import type { RequestFilters } from './select-requests.ts'

const hourMs = 3_600_000
/** What calls are counted by and listed by an index of. */
const indexed = ['model', 'provider', 'agent_name'] as const

/**
 * Whether fewer calls have the model, provider or agent that is asked for than have the label, by the roll-ups: the list then goes through those calls
 * and not through verdicts or scores. Gone through by its label, a model of 100 calls among ten million was found by looking each of the others up (over 15 s).
 * It decides how a list is gone through and not what is in it, so that what roll-ups count together, or what was erased since, does no harm.
 */
export async function isRarerThanLabel(
  database: ProjectDatabase<OneProject>,
  filters: RequestFilters,
  nowMs: number,
): Promise<boolean> {
  const named = indexed.filter((name) => filters[name] !== undefined)
  const labelled = countedAs(filters)
  if (named.length === 0 || labelled === undefined) return false
  const conditions = new Conditions()
  const own = named.map((name) => `t.${name} = ${conditions.bind(filters[name])}`).join(' and ')
  const range = {
    startMs: Math.floor((filters.start ?? 0) / hourMs) * hourMs,
    // What clients are ahead by, and the hour that has begun.
    endMs: Math.ceil((filters.end ?? nowMs) / hourMs) * hourMs + 3 * hourMs,
  }
  const [row] = await database.query<{ is_rarer: boolean | null }>(
    `select sum(t.calls) filter (where t.is_other or (${own})) < sum(t.${labelled}) as is_rarer
     from ${await rollupRows(database, 'call_rollups', range, conditions)} where :scope(t)`,
    conditions.values,
  )
  return row?.is_rarer ?? true
}

/** The sum of the roll-ups that says how many rows a list by label, severity or scorer goes through at most. Undefined: it goes through calls anyway. */
function countedAs({ label, severity, scorer_name }: RequestFilters): string | undefined {
  if (severity !== undefined) return `severity_${severity}`
  // Of one scorer only what is unsafe has an index.
  if (scorer_name !== undefined && label !== 'unsafe') return 'calls'
  return label === undefined ? undefined : `verdict_${label}`
}

import { severities, type Severity } from '#schemas/verdicts.ts'
import type { CounterRow, FindingRow, FindingTables, StoredStanding, ValueRow } from './finding-tables.ts'

/** What a statement does to the tables, and the rows that it returns. `values` are `$1` and the next. */
export type Statement = (tables: FindingTables, values: readonly unknown[]) => unknown[]

/** A column of `unnest`. */
export const column = (values: readonly unknown[], place: number) => values[place] as readonly unknown[]
export const texts = (values: readonly unknown[], place: number) => values[place] as readonly string[]
const inOrder = (ids: readonly string[]) => ids.toSorted()
const levelOf = (severity: Severity) => severities.indexOf(severity)
export const least = (one: string, other: string) => (one < other ? one : other)
export const greatest = (one: string, other: string) => (one > other ? one : other)

/** Statements of finding-store.ts, finding-states.ts and finding-counters.ts, by a text in each. */
export const sinkStatements: Readonly<Record<string, Statement>> = {
  full_projects({ findings }, values) {
    const limit = values[2] as number
    const missing = inOrder(texts(values, 1)).filter((id) => !findings.has(id))
    const counted = Math.min(findings.size, limit)
    return missing
      .map((id, index) => ({ project_id: texts(values, 0)[0], id, place: index + 1, counted }))
      .filter(({ place }) => counted + place > limit)
  },
  'select f.project_id, f.id, f.state': ({ findings }, values) =>
    inOrder(texts(values, 1)).flatMap((id) => findings.get(id) ?? []),
  'insert into findings'(tables, values) {
    const [projects, ids, scorers, kinds, agents, tools, owasps, severitiesOf] = values as string[][]
    const now = values[8] as Date
    return (ids ?? []).flatMap((id, index) => {
      if (tables.findings.has(id)) return []
      const row = {
        ...{
          project_id: projects?.[index],
          id,
          scorer_name: scorers?.[index],
          evidence_kind: kinds?.[index],
        },
        ...{ agent_name: agents?.[index], tool_name: tools?.[index], owasp_category: owasps?.[index] },
        ...{ severity: severitiesOf?.[index], state: 'open', muted_until: null, owner_id: null },
        ...{
          owner_login: null,
          revision: 0,
          created_at: now,
          opened_at: now,
          closed_at: null,
          closed_by: null,
        },
      } as FindingRow
      tables.putFinding(row)
      return [row]
    })
  },
  'update findings f set severity'(tables, values) {
    texts(values, 1).forEach((id, index) => {
      const severity = texts(values, 2)[index] as Severity
      const row = tables.findings.get(id)
      if (row !== undefined && levelOf(row.severity) < levelOf(severity))
        tables.putFinding({ ...row, severity })
    })
    return []
  },
  "update findings f set state = 'open'"(tables, values) {
    texts(values, 1).forEach((id, index) => {
      const [revision, change_id] = [column(values, 2)[index], texts(values, 4)[index]]
      const before = JSON.parse(texts(values, 5)[index] as string) as StoredStanding
      const row = tables.findings.get(id) as FindingRow
      const opened = { state: 'open', muted_until: null, closed_at: null, closed_by: null } as const
      tables.putFinding({ ...row, ...opened, opened_at: values[3] as Date, revision: revision as number })
      tables.addChange({
        ...{ finding_id: id, revision: revision as number, change_id: change_id as string, actor_kind: null },
        ...{ before, after: { ...before, state: 'open', muted_until: null } },
      })
    })
    return []
  },
  'insert into finding_counters'({ counters }, values) {
    const lane = values[7] as number
    texts(values, 1).forEach((finding_id, index) => {
      const at = (place: number) => column(values, place)[index]
      const given: CounterRow = {
        ...{ finding_id, lane, count: at(2) as number, value_count: 0, first_request_id: at(3) as string },
        ...{ last_request_id: at(4) as string, first_seen_at: at(5) as Date, last_seen_at: at(6) as Date },
      }
      const key = `${finding_id}/${lane}`
      const known = counters.get(key)
      counters.set(key, known === undefined ? given : addCounters(known, given))
    })
    return []
  },
  'insert into finding_values'({ counters, values: rows }, values) {
    const [lane, limit] = [values[5] as number, values[6] as number]
    texts(values, 1).forEach((finding_id, index) => {
      const at = (place: number) => column(values, place)[index]
      const given: ValueRow = {
        ...{ finding_id, lane, hash: (at(2) as Buffer).toString('hex') },
        ...{ first_request_id: at(3) as string, last_request_id: at(4) as string },
      }
      const key = `${finding_id}/${given.hash}/${lane}`
      const [known, counter] = [rows.get(key), counters.get(`${finding_id}/${lane}`)]
      if (counter === undefined || (known === undefined && counter.value_count >= limit)) return
      rows.set(key, known === undefined ? given : { ...known, ...endsOf(known, given) })
      if (known === undefined)
        counters.set(`${finding_id}/${lane}`, { ...counter, value_count: counter.value_count + 1 })
    })
    return []
  },
  'sum(c.count) as count, min'(tables, values) {
    return texts(values, 1).map((id, index) => ({
      ...{ project_id: texts(values, 0)[index], finding_id: id, ...sumsOf(tables, id) },
    }))
  },
}

const endsOf = (one: ValueRow | CounterRow, other: ValueRow | CounterRow) => ({
  first_request_id: least(one.first_request_id, other.first_request_id),
  last_request_id: greatest(one.last_request_id, other.last_request_id),
})

function addCounters(known: CounterRow, given: CounterRow): CounterRow {
  const [first, last] = [
    Math.min(known.first_seen_at.getTime(), given.first_seen_at.getTime()),
    Math.max(known.last_seen_at.getTime(), given.last_seen_at.getTime()),
  ]
  const seen = { first_seen_at: new Date(first), last_seen_at: new Date(last) }
  return { ...known, count: known.count + given.count, ...endsOf(known, given), ...seen }
}

/** Over all lanes. */
export function sumsOf(tables: FindingTables, findingId: string) {
  const rows = tables.countersOf(findingId)
  const firsts = rows.map((row) => row.first_seen_at.getTime())
  const lasts = rows.map((row) => row.last_seen_at.getTime())
  return {
    count: String(rows.reduce((sum, row) => sum + row.count, 0)),
    first_seen: new Date(Math.min(...firsts)),
    last_seen: new Date(Math.max(...lasts)),
  }
}

import type { FindingState } from '#schemas/event-data.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { OneProject, ProjectDatabase } from '#services/api/stores/project-database.ts'
import type { FindingRow, FindingTables, StoredStanding } from './finding-tables.ts'
import { column, greatest, sumsOf, texts, type Statement } from './sink-statements.ts'

/** Statements of change-findings.ts. `$1` is the project, so that `values` begin with `$2`. */
const apiStatements: Readonly<Record<string, Statement>> = {
  'order by f.id for no key update': () => [],
  'cross join lateral': (tables, values) =>
    texts(values, 0)
      .toSorted()
      .flatMap((id) => {
        const row = tables.findings.get(id)
        if (row === undefined) return []
        const { count, first_seen: first_seen_at, last_seen: last_seen_at } = sumsOf(tables, id)
        const last_request_id = tables
          .countersOf(id)
          .map((each) => each.last_request_id)
          .reduce(greatest, '')
        return [{ ...row, count, first_seen_at, last_seen_at, last_request_id }]
      }),
  'update findings f set state = w.state'(tables, values) {
    texts(values, 0).forEach((id, index) => {
      const at = (place: number) => column(values, place)[index]
      const row = tables.findings.get(id) as FindingRow
      const [now, isClosed, isSame] = [values[6] as Date, at(8) === true, row.state === at(1)]
      tables.putFinding({
        ...{ ...row, state: at(1) as FindingState, muted_until: at(2) as Date | null },
        ...{ owner_id: at(3) as string | null, owner_login: at(4) as string | null },
        ...{ revision: row.revision + 1, opened_at: at(5) === true ? now : row.opened_at },
        closed_at: isClosed ? (isSame ? row.closed_at : now) : null,
        closed_by: isClosed ? (isSame ? row.closed_by : (values[7] as string)) : null,
      })
    })
    return []
  },
  'insert into finding_changes'(tables, values) {
    texts(values, 0).forEach((id, index) => {
      const standing = (place: number) => JSON.parse(texts(values, place)[index] as string) as StoredStanding
      tables.addChange({
        ...{ finding_id: id, revision: (tables.findings.get(id) as FindingRow).revision },
        ...{ change_id: values[1] as string, actor_kind: values[3] as string },
        ...{ before: standing(5), after: standing(6) },
      })
    })
    return []
  },
  'insert into event_outbox'(tables, values) {
    texts(values, 0).forEach((id, index) => {
      const [event, data] = [texts(values, 1)[index], column(values, 2)[index]]
      tables.addEvent(id, event as string, data as Buffer)
    })
    return []
  },
  'h.finding_id, h.revision, h.before': ({ changes }, values) =>
    [...changes.values()].filter((row) => row.change_id === values[0]),
  "select distinct h.before ->> 'owner_id'": ({ changes }, values) =>
    [...changes.values()]
      .filter((row) => row.change_id === values[0] && row.before.owner_id !== null)
      .map((row) => ({ owner_id: row.before.owner_id })),
}

/** Runs the one statement of `statements` that the text is. */
export function runStatement(
  statements: Readonly<Record<string, Statement>>,
  tables: FindingTables,
  text: string,
  values: readonly unknown[],
): unknown[] {
  const known = Object.entries(statements).filter(([part]) => text.includes(part))
  const [only, ...others] = known
  if (only === undefined || others.length > 0)
    throw new Error(`${known.length} statements of the simulation are: ${text}`)
  return only[1](tables, values)
}

/** What stores of the API use of a project's database. Each change is one moment. */
export function createSimProjectDatabase(tables: FindingTables, projectId: string) {
  const entries: string[] = []
  const run = (text: string, values: readonly unknown[]) =>
    Promise.resolve(runStatement(apiStatements, tables, text, values))
  type Change = (run: unknown) => Promise<{ result: unknown; entries: { subject: string }[] }>
  const database = {
    scope: { projectId },
    query: run,
    changeTogether: (work: Change) =>
      tables.transact(async () => {
        const { result, entries: audited } = await work(run)
        entries.push(...audited.map(({ subject }) => idToUuid(subject)))
        return result
      }),
  }
  return { database: database as unknown as ProjectDatabase<OneProject>, entries }
}

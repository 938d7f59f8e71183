import {
  hashesOf,
  type CounterRow,
  type FindingTables,
  type ScoreRow,
  type ValueRow,
} from './finding-tables.ts'
import { least, texts, type Statement } from './sink-statements.ts'

/** Statements of finding-promotion.ts, repair-values.ts and erase-findings.ts, by a text in each. */
export const upkeepStatements: Readonly<Record<string, Statement>> = {
  's.run_id = $2 as is_live'({ scores }, values) {
    return texts(values, 2).flatMap((id) => {
      const row = scores.get(id)
      if (row?.finding_id == null || row.placed.score.score_label !== 'unsafe') return []
      const { score, call, requestUuid, requestCreatedAtMs } = row.placed
      const found_values = score.found_values?.map((value) => ({
        ...value,
        hash: value.hash?.toString('hex') ?? null,
      }))
      return [
        {
          ...{ ...call, ...score, id, finding_id: row.finding_id, is_live: row.run_id === values[1] },
          ...{ request_id: requestUuid, request_created_at: new Date(requestCreatedAtMs), found_values },
        },
      ]
    })
  },
  'select from finding_values where project_id = $1 and last_request_id': ({ values: rows }, values) =>
    heldBy(rows, texts(values, 1)),
  'with held as materialized'(tables, values) {
    for (const row of heldBy(tables.values, texts(values, 2))) {
      const key = `${row.finding_id}/${row.hash}/${row.lane}`
      const found = tables
        .liveScoresOf(row.finding_id, values[1] as string)
        .find((score) => hashesOf(score).includes(row.hash))?.placed.requestUuid
      const first = least(row.first_request_id, found ?? '')
      if (found === undefined) tables.values.delete(key)
      else tables.values.set(key, { ...row, last_request_id: found, first_request_id: first })
    }
    return []
  },
  'select f.id from findings f where f.project_id = $1 and f.id in (': (tables) =>
    [...new Set(namedIn(tables, tables.counters).map((row) => row.finding_id))].map((id) => ({ id })),
  'first_request_id = case when': (tables, values) => {
    for (const row of namedIn(tables, tables.counters)) {
      const [newest] = tables.liveScoresOf(row.finding_id, values[4] as string)
      const last = newest?.placed.requestUuid ?? (values[3] as string)
      tables.counters.set(`${row.finding_id}/${row.lane}`, {
        ...row,
        ...(tables.erased.has(row.first_request_id) && { first_request_id: values[3] as string }),
        ...(tables.erased.has(row.last_request_id) && { last_request_id: last }),
      })
    }
    return []
  },
  'update finding_values v set first_request_id = $4': (tables, values) => {
    const named = [...tables.values.values()].filter((row) => tables.erased.has(row.first_request_id))
    for (const row of named)
      tables.values.set(`${row.finding_id}/${row.hash}/${row.lane}`, {
        ...row,
        first_request_id: values[3] as string,
      })
    return named
  },
  'select distinct v.last_request_id as request_id': (tables) => {
    const last = [...tables.values.values()].map((row) => row.last_request_id)
    return [...new Set(last)].filter((id) => tables.erased.has(id)).map((request_id) => ({ request_id }))
  },
}

const heldBy = (rows: ReadonlyMap<string, ValueRow>, requests: readonly string[]) =>
  [...rows.values()].filter((row) => requests.includes(row.last_request_id))

const namedIn = ({ erased }: FindingTables, rows: ReadonlyMap<string, CounterRow>) =>
  [...rows.values()].filter((row) => erased.has(row.first_request_id) || erased.has(row.last_request_id))

/** Exchanges a run with the live one, as `exchangeRuns` does; returns the exchanged scores. */
export function exchangeRuns(tables: FindingTables, liveRunUuid: string, runUuid: string): ScoreRow[] {
  const placeOf = ({ placed }: ScoreRow) => `${placed.requestUuid}/${placed.score.scorer_name}`
  const promoted = new Set(
    [...tables.scores.values()].filter((row) => row.run_id === runUuid).map((row) => placeOf(row)),
  )
  const exchanged = [...tables.scores]
    .filter(([, row]) => promoted.has(placeOf(row)) && [liveRunUuid, runUuid].includes(row.run_id))
    .map(([id, row]) => [id, { ...row, run_id: row.run_id === runUuid ? liveRunUuid : runUuid }] as const)
  for (const [id, row] of exchanged) tables.scores.set(id, row)
  return exchanged.map(([, row]) => row)
}

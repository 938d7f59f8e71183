import { idToUuid, idFromUuid, liveRunId } from '#schemas/ids.ts'
import { sealedOf, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { Severity } from '#schemas/verdicts.ts'
import { Conditions } from './conditions.ts'
import type { ProjectDatabase } from './project-database.ts'
import type { RequestItem } from './request-store.ts'

type Listed = Pick<RequestItem, 'id' | 'project_id' | 'created_at' | 'worst_label'>

/** What failed in a listed call: one live unsafe score. */
export interface FailedScore {
  scorer_name: string
  severity: Severity | null
  /** Kind of evidence; null: none, or not known yet. */
  kind: string | null
  is_suppressed: boolean
  /** What the newest review expects; null: not reviewed. */
  expected_label: 'safe' | 'unsafe' | null
}

/** By project and id of the request. */
export type ByRequest<T> = ReadonlyMap<string, T>
export const requestKeyOf = ({ project_id, id }: Pick<Listed, 'id' | 'project_id'>) => `${project_id}/${id}`

interface Row {
  project_id: string
  request_id: string
}
const keyOfRow = ({ project_id, request_id }: Row) =>
  requestKeyOf({ project_id: idFromUuid('project', project_id), id: idFromUuid('request', request_id) })

/** That the row `alias` belongs to one of these requests; `time` is its partition column. */
function belongsTo(items: readonly Listed[], alias: string, time: string): Conditions {
  const conditions = new Conditions()
  const uuids = (of: (item: Listed) => string) => conditions.bind([...new Set(items.map(of).map(idToUuid))])
  conditions.add(`${alias}.project_id = any(${uuids(({ project_id }) => project_id)}::uuid[])`)
  conditions.add(`${alias}.request_id = any(${uuids(({ id }) => id)}::uuid[])`)
  const times = items.map(({ created_at }) => Date.parse(created_at))
  conditions.within(`${alias}.${time}`, Math.min(...times), Math.max(...times) + 1)
  return conditions
}

/** The sealed previews of a page. */
export async function readPreviews(
  database: ProjectDatabase,
  items: readonly Listed[],
): Promise<ByRequest<SealedBytes>> {
  if (items.length === 0) return new Map()
  const conditions = belongsTo(items, 'p', 'created_at')
  const rows = await database.query<Row & { codec: string; key_id: string | null; data: Buffer }>(
    `select p.project_id, p.request_id, p.codec, p.key_id, p.data from request_previews p where :scope(p)${conditions.text}`,
    conditions.values,
  )
  return new Map(
    rows.flatMap((row) => {
      const sealed = sealedOf(row.codec, row.key_id, row.data)
      return sealed === null ? [] : [[keyOfRow(row), sealed] as const]
    }),
  )
}

/** The live unsafe scores of a page, worst first. */
export async function readFailedScores(
  database: ProjectDatabase,
  items: readonly Listed[],
): Promise<ByRequest<FailedScore[]>> {
  const unsafe = items.filter(({ worst_label }) => worst_label === 'unsafe')
  if (unsafe.length === 0) return new Map()
  const conditions = belongsTo(unsafe, 's', 'request_created_at')
  const runs = [...new Set(unsafe.map(({ project_id }) => idToUuid(liveRunId(project_id))))]
  conditions.add(`s.run_id = any(${conditions.bind(runs)}::uuid[])`)
  const rows = await database.query<Row & FailedScore>(
    `select s.project_id, s.request_id, s.scorer_name, s.severity, nullif(f.evidence_kind, '') as kind,
       s.suppressed_by is not null as is_suppressed, said.expected_label
     from safety_scores s
     left join lateral (select evidence_kind from findings g where g.project_id = s.project_id and g.id = s.finding_id) f on true
     left join lateral (
       select w.expected_label from score_reviews w where w.project_id = s.project_id and w.score_id = s.id
       order by w.created_at desc limit 1) said on true
     where :scope(s)${conditions.text} and s.score_label = 'unsafe'
     order by array_position(array['critical', 'high', 'medium'], s.severity), s.score_value desc, s.scorer_name`,
    conditions.values,
  )
  const groups = Map.groupBy(rows, keyOfRow)
  return new Map(
    [...groups].map(([key, group]) => [
      key,
      group.map(({ project_id: _project, request_id: _request, ...score }) => score),
    ]),
  )
}

import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import { sealedOf, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { Severity } from '#schemas/verdicts.ts'
import { Conditions } from './conditions.ts'
import type { ProjectDatabase } from './project-database.ts'
import type { RequestItem } from './request-store.ts'

type Listed = Pick<RequestItem, 'id' | 'project_id' | 'created_at'>

/** A live unsafe score of a listed call. */
interface UnsafeScore {
  scorer_name: string
  severity: Severity | null
  /** Kind of evidence; null: none, or not known yet. */
  kind: string | null
  is_suppressed: boolean
  /** What the newest review expects; null: not reviewed. */
  expected_label: 'safe' | 'unsafe' | null
}

interface RowNotes {
  preview: SealedBytes | null
  /** Worst first. */
  unsafe_scores: UnsafeScore[]
}

interface NoteRow {
  project_id: string
  id: string
  codec: string | null
  key_id: string | null
  data: Buffer | null
  unsafe_scores: UnsafeScore[] | null
}

/** The key of a request among those of several projects. */
export const requestKeyOf = ({ project_id, id }: Pick<Listed, 'id' | 'project_id'>) => `${project_id}/${id}`

/** What a page shows beside its rows, by `requestKeyOf`. One query; without previews unless asked for. */
export async function readRowNotes(
  database: ProjectDatabase,
  items: readonly Listed[],
  { withPreviews }: { withPreviews: boolean },
): Promise<ReadonlyMap<string, RowNotes>> {
  if (items.length === 0) return new Map()
  const conditions = new Conditions()
  const times = items.map(({ created_at }) => Date.parse(created_at))
  // Outside the joins, so that Postgres skips the other days.
  const within = conditions.daysWithin(Math.min(...times), Math.max(...times) + 1)
  const keys = [
    `${conditions.bind(items.map(({ project_id }) => idToUuid(project_id)))}::uuid[]`,
    `${conditions.bind(items.map(({ id }) => idToUuid(id)))}::uuid[]`,
    `${conditions.bind(times.map((time) => new Date(time)))}::timestamptz[]`,
    `${conditions.bind(items.map(({ project_id }) => idToUuid(liveRunId(project_id))))}::uuid[]`,
  ]
  const preview = withPreviews
    ? `left join lateral (select q.codec, q.key_id, q.data from request_previews q where q.project_id = k.project_id
         and q.request_id = k.id and q.created_at = k.created_at${within('q.created_at')} limit 1) p on true`
    : 'cross join (select null as codec, null as key_id, null::bytea as data) p'
  const rows = await database.query<NoteRow>(
    `select k.project_id, k.id, p.codec, p.key_id, p.data, u.unsafe_scores
     from unnest(${keys.join(', ')}) as k (project_id, id, created_at, run_id) ${preview}
     left join lateral (${unsafeScoresSql(within('s.request_created_at'))}) u on true where :scope(k)`,
    conditions.values,
  )
  return new Map(
    rows.map((row) => [
      requestKeyOf({
        project_id: idFromUuid('project', row.project_id),
        id: idFromUuid('request', row.id),
      }),
      { preview: sealedOf(row.codec, row.key_id, row.data), unsafe_scores: row.unsafe_scores ?? [] },
    ]),
  )
}

const unsafeScoresSql = (within: string) => `
  select json_agg(json_build_object('scorer_name', s.scorer_name, 'severity', s.severity, 'kind', nullif(f.evidence_kind, ''),
      'is_suppressed', s.suppressed_by is not null, 'expected_label', said.expected_label)
    order by array_position(array['critical', 'high', 'medium'], s.severity), s.score_value desc, s.scorer_name) as unsafe_scores
  from safety_scores s
  left join lateral (select g.evidence_kind from findings g where g.project_id = s.project_id and g.id = s.finding_id limit 1) f on true
  left join lateral (select w.expected_label from score_reviews w where w.project_id = s.project_id and w.score_id = s.id
    order by w.created_at desc limit 1) said on true
  where s.project_id = k.project_id and s.request_id = k.id and s.request_created_at = k.created_at and s.run_id = k.run_id
    and s.score_label = 'unsafe'${within}`

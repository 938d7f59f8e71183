import type { Sealer } from '#runtime/sealing.ts'
import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import { sealedIdentity, sealedOf } from '#schemas/sealed-bytes.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

export const previewStatuses = ['queued', 'running', 'done', 'failed'] as const

/** A preview of a scorer, as the scorer service left it. */
export interface ScorerPreview {
  id: string
  project_id: string
  status: (typeof previewStatuses)[number]
  days: number
  reviews_of: string | null
  problem: string | null
  report: unknown
  hits: unknown[]
  created_at: string
  finished_at: string | null
}

/** What the scorer service compiles, as a row of project_scorers. */
export interface PreviewedScorer {
  id: string
  name: string
  version: number
  definition: unknown
  description: string | null
  severity: string
  owasp_category: string | null
}

/** Kept per project; older ones are deleted. */
const maxKept = 20
/** Beyond it a preview counts as lost: no scorer service runs. */
const lostAfter = `interval '15 minutes'`

/** False: another one of the project is under way. */
export async function orderPreview(
  database: ProjectDatabase<OneProject>,
  id: string,
  order: { scorer: PreviewedScorer; days: number; reviewsOf: string | null },
  nowMs: number,
): Promise<boolean> {
  const { scorer, days, reviewsOf } = order
  const rows = await database.change(
    `with old as (delete from scorer_previews o where :scope(o) and o.id in (
         select k.id from scorer_previews k where :scope(k) order by k.created_at desc, k.id desc offset $7))
     insert into scorer_previews (id, project_id, scorer, days, reviews_of, created_at)
     select $2, p.project_id, $3, $4, $5, $6 from subscriptions p
     where :scope(p) and not exists (select from scorer_previews r where :scope(r) and r.status in ('queued', 'running')
       and r.created_at > $6::timestamptz - ${lostAfter})
     returning id`,
    [
      idToUuid(id),
      JSON.stringify({ ...scorer, id: idToUuid(scorer.id) }),
      days,
      reviewsOf,
      new Date(nowMs),
      maxKept - 1,
    ],
    { action: 'scorer_preview.ordered', subject: id, detail: { name: scorer.name, days } },
    nowMs,
    true,
  )
  return rows.length > 0
}

interface PreviewRow {
  id: string
  project_id: string
  status: ScorerPreview['status']
  days: number
  reviews_of: string | null
  problem: string | null
  report: unknown
  hits_codec: string | null
  hits_key_id: string | null
  hits_data: Buffer | null
  created_at: Date
  finished_at: Date | null
}

/** Hits whose call was erased since are left out. */
export async function findPreview(
  database: ProjectDatabase<OneProject>,
  id: string,
  sealer: Sealer,
): Promise<ScorerPreview | undefined> {
  const rows = await database.query<PreviewRow>(
    `select v.id, v.project_id, v.status, v.days, v.reviews_of, v.problem, v.report, v.hits_codec, v.hits_key_id, v.hits_data,
       v.created_at, v.finished_at
     from scorer_previews v where :scope(v) and v.id = $2`,
    [idToUuid(id)],
  )
  const [row] = rows
  if (row === undefined) return undefined
  const projectId = idFromUuid('project', row.project_id)
  const sealed = sealedOf(row.hits_codec, row.hits_key_id, row.hits_data)
  const hits =
    sealed === null
      ? []
      : (JSON.parse(sealer.open(sealed, sealedIdentity(projectId, id, 'scorer_preview')).toString()) as Hit[])
  const { status, days, reviews_of, problem, report } = row
  return {
    ...{ id, project_id: projectId, status, days, reviews_of, problem, report },
    hits: await withBodies(database, hits),
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  }
}

interface Hit {
  request_id: string
}

async function withBodies(database: ProjectDatabase<OneProject>, hits: readonly Hit[]): Promise<Hit[]> {
  if (hits.length === 0) return []
  const rows = await database.query<{ request_id: string }>(
    `select b.request_id from llm_request_bodies b
     join unnest($2::uuid[], $3::timestamptz[]) as a (id, at) on b.request_id = a.id and b.created_at = a.at where :scope(b)`,
    [
      hits.map(({ request_id }) => idToUuid(request_id)),
      hits.map(({ request_id }) => new Date(idTimeMs(request_id))),
    ],
  )
  const there = new Set(rows.map(({ request_id }) => idFromUuid('request', request_id)))
  return hits.filter(({ request_id }) => there.has(request_id))
}

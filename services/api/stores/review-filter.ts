import type { Conditions } from './conditions.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import type { RequestKey } from './request-columns.ts'

/** What people said of a call's scores; `unreviewed`: nothing. */
export const reviewFilters = ['false_alarm', 'confirmed', 'missed', 'unreviewed'] as const
export type ReviewFilter = (typeof reviewFilters)[number]
/** Of one review. The others agree that something is safe. */
type ReviewKind = Exclude<ReviewFilter, 'unreviewed'>

/** The kind of the review `w`; null: neither. */
const reviewKindSql = `case when w.expected_label = 'unsafe' then case when w.score_label = 'unsafe' then 'confirmed' else 'missed' end
  when w.score_label = 'unsafe' then 'false_alarm' end`

/** Adds the condition on the reviews of the request `r`. */
export function addReview(conditions: Conditions, filter: ReviewFilter): void {
  const ofRequest = 'score_reviews w where w.project_id = r.project_id and w.request_id = r.id'
  if (filter === 'unreviewed') conditions.add(`not exists (select from ${ofRequest})`)
  else
    conditions.add(`${conditions.bind(filter)} in (select distinct on (w.score_id) ${reviewKindSql} from ${ofRequest}
      order by w.score_id, w.created_at desc)`)
}

/** Reviewed calls that are looked at: of more, the newest. */
const atMost = 5_000

/**
 * The newest calls with such a review, by what was said last of each score. People review few calls, so that
 * the list need not be scanned for them.
 */
export async function findReviewed(
  database: ProjectDatabase,
  kind: ReviewKind,
  { start, end }: { start?: number | undefined; end?: number | undefined },
): Promise<RequestKey[]> {
  return database.query<RequestKey>(
    `select distinct request_id as id, request_created_at as created_at from (
       select distinct on (w.request_id, w.score_id) w.request_id, w.request_created_at, ${reviewKindSql} as kind
       from score_reviews w where :scope(w) and ($3::timestamptz is null or w.request_created_at >= $3)
         and ($4::timestamptz is null or w.request_created_at < $4)
       order by w.request_id, w.score_id, w.created_at desc
     ) said where kind = $2 order by created_at desc, id desc limit $5`,
    [kind, start === undefined ? null : new Date(start), end === undefined ? null : new Date(end), atMost],
  )
}

/** Calls in the range by what was said of them. */
export async function countReviewed(
  database: ProjectDatabase<OneProject>,
  { startMs, endMs }: { startMs: number; endMs: number },
): Promise<Map<string, number>> {
  const rows = await database.query<{ kind: string; calls: number }>(
    `select kind, count(distinct request_id)::integer as calls from (
       select distinct on (w.request_id, w.score_id) w.request_id, ${reviewKindSql} as kind from score_reviews w
       where :scope(w) and w.request_created_at >= $2 and w.request_created_at < $3
       order by w.request_id, w.score_id, w.created_at desc
     ) said where kind is not null group by 1`,
    [new Date(startMs), new Date(endMs)],
  )
  return new Map(rows.map(({ kind, calls }) => [kind, calls]))
}

/** The same among these calls. */
export async function countReviewedOf(
  database: ProjectDatabase<OneProject>,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await database.query<{ kind: string; calls: number }>(
    `select kind, count(distinct request_id)::integer as calls from (
       select distinct on (w.request_id, w.score_id) w.request_id, ${reviewKindSql} as kind from score_reviews w
       where :scope(w) and w.request_id = any($2::uuid[]) order by w.request_id, w.score_id, w.created_at desc
     ) said where kind is not null group by 1`,
    [ids],
  )
  return new Map(rows.map(({ kind, calls }) => [kind, calls]))
}

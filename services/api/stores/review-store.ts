import { idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { ScoreLabel } from '#schemas/verdicts.ts'
import type { Principal } from '#http/access/principal.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { Conditions } from './conditions.ts'
import { listRows } from './list-rows.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import type { StoredScore } from './score-store.ts'

export const reviewerKinds = ['person', 'key', 'operator'] as const
type ReviewerKind = (typeof reviewerKinds)[number]

export interface Review {
  id: string
  project_id: string
  request_id: string
  score_id: string
  scorer_name: string
  scorer_version: string
  score_label: ScoreLabel
  /** The label that the reviewer expected. */
  expected_label: 'safe' | 'unsafe'
  agrees: boolean
  reviewer: string
  /** A user, or a key or the operator with a name that they gave. */
  reviewer_kind: ReviewerKind
  reason: string | null
  created_at: string
}

type ReviewRow = Omit<Review, 'created_at'> & { created_at: Date }

export interface ReviewFilters {
  request_id?: string | undefined
  scorer_name?: string | undefined
  reviewer?: string | undefined
  agrees?: boolean | undefined
  /** The time of the review, in Unix milliseconds. */
  start?: number | undefined
  end?: number | undefined
}

/**
 * Saves a review. Replaces the reviewer's earlier one of the same score, but never a user's by one under the
 * same name.
 */
export async function saveReview(
  database: ProjectDatabase<OneProject>,
  score: StoredScore,
  review: Pick<Review, 'id' | 'expected_label' | 'agrees' | 'reviewer' | 'reason'> & {
    reviewer_kind: Principal['kind']
  },
  nowMs: number,
): Promise<Review | undefined> {
  const rows = await database.change<ReviewRow>(
    `insert into score_reviews as w (project_id, id, request_id, request_created_at, score_id, scorer_name, scorer_version, score_label,
       expected_label, agrees, reviewer, reason, created_at, reviewer_kind)
     select u.project_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 from subscriptions u where :scope(u)
     on conflict (project_id, score_id, reviewer_kind, reviewer) do update set expected_label = excluded.expected_label, agrees = excluded.agrees,
       reason = excluded.reason, created_at = excluded.created_at
     returning *`,
    [
      idToUuid(review.id),
      idToUuid(score.request_id),
      new Date(idTimeMs(score.request_id)),
      idToUuid(score.id),
      score.scorer_name,
      score.scorer_version,
      score.score_label,
      review.expected_label,
      review.agrees,
      review.reviewer,
      review.reason,
      new Date(nowMs),
      review.reviewer_kind,
    ],
    {
      action: 'review.saved',
      subject: score.request_id,
      detail: { scorer_name: score.scorer_name, agrees: review.agrees },
    },
    nowMs,
  )
  return rows.map(reviewOf)[0]
}

/** Newest first. */
export async function listReviews(
  database: ProjectDatabase<OneProject>,
  filters: ReviewFilters,
  paging: Paging,
): Promise<{ items: Review[]; counted: Counted }> {
  const { rows, counted } = await listRows<ReviewRow>(database, paging, {
    columns: 'w.*',
    from: 'score_reviews w',
    alias: 'w',
    timeColumn: 'w.created_at',
    idColumn: 'w.id',
    // A changed review is later than its id.
    timeOf: (id) => `(select c.created_at from score_reviews c where c.id = ${id})`,
    conditions: conditionsOf(filters),
  })
  return { items: rows.map(reviewOf), counted }
}

/**
 * Oldest first, after `after`. The position is the review's as it was read, so that changes and deletions
 * neither skip nor restart the list. A review that is changed meanwhile appears again.
 */
export async function readReviews(
  database: ProjectDatabase<OneProject>,
  filters: ReviewFilters,
  after: Review | undefined,
  limit: number,
): Promise<Review[]> {
  const conditions = conditionsOf(filters)
  if (after !== undefined) {
    const place = [conditions.bind(after.created_at), conditions.bind(idToUuid(after.id))]
    conditions.add(`(w.created_at, w.id) > (${place.join(', ')})`)
  }
  const rows = await database.query<ReviewRow>(
    `select w.* from score_reviews w where :scope(w)${conditions.text} order by w.created_at, w.id limit ${conditions.bind(limit)}`,
    conditions.values,
  )
  return rows.map(reviewOf)
}

/** Conditions on `score_reviews w`. */
export function conditionsOf(filters: ReviewFilters): Conditions {
  const conditions = new Conditions()
  if (filters.request_id !== undefined) conditions.equal('w.request_id', idToUuid(filters.request_id))
  conditions.equal('w.scorer_name', filters.scorer_name)
  conditions.equal('w.reviewer', filters.reviewer)
  conditions.equal('w.agrees', filters.agrees)
  conditions.within('w.created_at', filters.start, filters.end)
  return conditions
}

function reviewOf(row: ReviewRow): Review {
  return {
    id: idFromUuid('review', row.id),
    project_id: idFromUuid('project', row.project_id),
    request_id: idFromUuid('request', row.request_id),
    score_id: idFromUuid('score', row.score_id),
    scorer_name: row.scorer_name,
    scorer_version: row.scorer_version,
    score_label: row.score_label,
    expected_label: row.expected_label,
    agrees: row.agrees,
    reviewer: row.reviewer,
    reviewer_kind: row.reviewer_kind,
    reason: row.reason,
    created_at: row.created_at.toISOString(),
  }
}

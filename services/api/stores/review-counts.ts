import type { OneProject, ProjectDatabase } from './project-database.ts'
import { conditionsOf, type ReviewFilters } from './review-store.ts'

export interface Agreement {
  scorer_name: string
  reviews: number
  agreed: number
  disagreed: number
  /** Labelled `unsafe`, expected `safe`. */
  false_alarms: number
  /** Labelled `safe`, expected `unsafe`. */
  missed: number
}

const dayMs = 86_400_000

/**
 * How often reviewers agree with each scorer. Whole days come from the daily counts of triggers (migration
 * 0007), so that the time does not grow with the reviews. Partial days and further filters read the reviews.
 */
export async function readAgreement(
  database: ProjectDatabase<OneProject>,
  { start = -Infinity, end = Infinity, ...filters }: ReviewFilters,
): Promise<Agreement[]> {
  const conditions = conditionsOf(filters)
  const others = conditions.text
  const within = (column: string, fromMs: number, untilMs: number) =>
    [
      fromMs === -Infinity ? '' : ` and ${column} >= ${conditions.bind(new Date(fromMs))}`,
      untilMs === Infinity ? '' : ` and ${column} < ${conditions.bind(new Date(untilMs))}`,
    ].join('')
  const reviewed = (fromMs: number, untilMs: number) =>
    fromMs < untilMs ? [reviewedSql + others + within('w.created_at', fromMs, untilMs)] : []

  // Infinite without a bound.
  const [firstDay, endDay] = [Math.ceil(start / dayMs) * dayMs, Math.floor(end / dayMs) * dayMs]
  const { request_id, reviewer, agrees } = filters
  const isCounted = [request_id, reviewer, agrees].every((value) => value === undefined) && firstDay < endDay
  const parts = isCounted
    ? [
        countedSql + others + within('w.day', firstDay, endDay),
        ...reviewed(start, firstDay),
        ...reviewed(endDay, end),
      ]
    : reviewed(start, end)
  if (parts.length === 0) return []
  return database.query<Agreement>(
    `select scorer_name, sum(reviews)::integer as reviews, sum(agreed)::integer as agreed, sum(reviews - agreed)::integer as disagreed,
       sum(false_alarms)::integer as false_alarms, sum(missed)::integer as missed
     from (${parts.join(' union all ')}) parts group by 1 order by 1`,
    conditions.values,
  )
}

// Both name their table `w`, as the conditions do.
const countedSql = `select w.scorer_name, w.reviews, w.agreed, w.false_alarms, w.missed from review_counts w where :scope(w)`
const reviewedSql = `select w.scorer_name, 1 as reviews, w.agrees::integer as agreed,
    (w.score_label = 'unsafe' and w.expected_label = 'safe')::integer as false_alarms,
    (w.score_label = 'safe' and w.expected_label = 'unsafe')::integer as missed
  from score_reviews w where :scope(w)`

import type { ReviewedScores } from '../calibration/calibrate.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { conditionsOf, type ReviewFilters } from './review-store.ts'

/** The newest reviews that count: a project that has more learns nothing from older ones. */
const maxCountedReviews = 50_000

/** Reviewed scores with their values, equal ones together. Of several reviews of one score the newest. */
export async function readReviewed(
  database: ProjectDatabase<OneProject>,
  filters: Pick<ReviewFilters, 'scorer_name' | 'start' | 'end'>,
): Promise<ReviewedScores[]> {
  const conditions = conditionsOf(filters)
  return database.query<ReviewedScores>(
    `select n.scorer_name, n.score_label, n.expected_label, s.score_value, count(*)::integer as count from (
       select distinct on (w.score_id) w.* from (
         select w.* from score_reviews w where :scope(w)${conditions.text} order by w.created_at desc, w.id desc limit ${conditions.bind(maxCountedReviews)}
       ) w order by w.score_id, w.created_at desc, w.id desc
     ) n left join safety_scores s on s.project_id = n.project_id and s.id = n.score_id and s.request_created_at = n.request_created_at
     group by 1, 2, 3, 4`,
    conditions.values,
  )
}

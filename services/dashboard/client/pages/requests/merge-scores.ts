import type { Item } from '../../api/call-api.ts'
import { byGravity, worseVerdict, type Verdict } from '../../formats/worst-verdict.ts'

export type RequestItem = Item<'GET /api/requests'>

export interface ArrivedScore {
  request_id: string
  scorer_name: string
  score_label: NonNullable<Verdict['label']>
  severity: Verdict['severity']
}

/** What arrived for one request since the page was opened. */
export interface Arrived {
  worst: Verdict
  /** What each scorer said. */
  scorers: ReadonlyMap<string, Verdict>
}

/** Requests that are remembered: more than a screen ever shows. */
const maxRequests = 2_000

/**
 * `known` with the scores that came, the oldest requests forgotten beyond the bound. `isOutdated`: a scorer said something else than before, as
 * after a promotion. The worst of a request whose score was replaced is not known any more: it is forgotten, and the list has to be read anew.
 */
export function addArrived(
  known: ReadonlyMap<string, Arrived>,
  scores: readonly ArrivedScore[],
): { arrived: ReadonlyMap<string, Arrived>; isOutdated: boolean } {
  if (scores.length === 0) return { arrived: known, isOutdated: false }
  const all = new Map(known)
  let isOutdated = false
  for (const { request_id, scorer_name, score_label: label, severity } of scores) {
    const before = all.get(request_id)
    all.delete(request_id)
    const said = before?.scorers.get(scorer_name)
    if (said !== undefined && (said.label !== label || said.severity !== severity)) {
      isOutdated = true
      continue
    }
    const score = { label, severity }
    all.set(request_id, {
      worst: before === undefined ? score : worseVerdict(before.worst, score),
      scorers: new Map(before?.scorers).set(scorer_name, score),
    })
  }
  return { arrived: new Map([...all].slice(-maxRequests)), isOutdated }
}

/** The row as it is by now. It stays where it stands, also when a filter would no longer let it in. */
export function withArrived(
  row: RequestItem,
  arrived: Arrived | undefined,
  scorer: string | undefined,
): RequestItem {
  if (arrived === undefined) return row
  const said = scorer === undefined ? undefined : arrived.scorers.get(scorer)
  const { label, severity } = worseVerdict(
    { label: row.worst_label, severity: row.worst_severity },
    arrived.worst,
  )
  return {
    ...row,
    worst_label: label,
    worst_severity: severity,
    score_count: Math.max(row.score_count, arrived.scorers.size),
    ...(said === undefined ? {} : { scorer_label: said.label ?? undefined, scorer_severity: said.severity }),
  }
}

/**
 * Whether a row says worse than all that ever came for its request, of which `scores` just did: those took others' places, as after a promotion, and
 * the list has to be read anew. A call's first scores are stored at once, so that a row has all of them or none.
 */
export function saysWorse(
  rows: readonly RequestItem[],
  arrived: ReadonlyMap<string, Arrived>,
  scores: readonly ArrivedScore[],
): boolean {
  const came = new Set(scores.map(({ request_id }) => request_id))
  return rows.some(({ id, worst_label: label, worst_severity: severity }) => {
    const worst = came.has(id) ? arrived.get(id)?.worst : undefined
    return worst !== undefined && byGravity({ label, severity }, worst) < 0
  })
}

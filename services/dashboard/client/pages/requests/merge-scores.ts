import { joinReadings, readScore, type CallReading } from '#schemas/call-reading.ts'
import type { Item } from '../../api/call-api.ts'
import { byGravity, worseVerdict, type Verdict } from '../../formats/worst-verdict.ts'

export type RequestItem = Item<'GET /api/requests'>

export interface ArrivedScore {
  request_id: string
  scorer_name: string
  score_label: NonNullable<Verdict['label']>
  severity: Verdict['severity']
  reason: string | null
}

/** Scores that arrived for one request since the page was opened. */
export interface Arrived {
  worst: Verdict
  /** Each scorer's verdict. */
  scorers: ReadonlyMap<string, Verdict>
  reading: CallReading
}

/** Maximum requests kept: more than any screen shows. */
const maxRequests = 2_000

/**
 * `known` with the new scores; the oldest requests are dropped beyond the limit. `isOutdated`: a scorer
 * changed its verdict, as after a promotion. The request's worst verdict is then unknown, so it is dropped
 * and the list must be refetched.
 */
export function addArrived(
  known: ReadonlyMap<string, Arrived>,
  scores: readonly ArrivedScore[],
): { arrived: ReadonlyMap<string, Arrived>; isOutdated: boolean } {
  if (scores.length === 0) return { arrived: known, isOutdated: false }
  const all = new Map(known)
  let isOutdated = false
  for (const { severity, ...arrived } of scores) {
    const { request_id, scorer_name, score_label: label } = arrived
    const before = all.get(request_id)
    all.delete(request_id)
    const said = before?.scorers.get(scorer_name)
    if (said !== undefined && (said.label !== label || said.severity !== severity)) {
      isOutdated = true
      continue
    }
    const score = { label, severity }
    const reading = readScore(arrived)
    all.set(request_id, {
      worst: before === undefined ? score : worseVerdict(before.worst, score),
      scorers: new Map(before?.scorers).set(scorer_name, score),
      reading:
        before === undefined
          ? reading
          : said === undefined
            ? joinReadings(before.reading, reading)
            : before.reading,
    })
  }
  return { arrived: new Map([...all].slice(-maxRequests)), isOutdated }
}

/** The row with its latest verdict. It keeps its position even if a filter no longer matches. */
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
    ...readingOf(row, arrived),
    worst_label: label,
    worst_severity: severity,
    unsafe_scores: withUnsafe(row.unsafe_scores, arrived),
    score_count: Math.max(row.score_count, arrived.scorers.size),
    ...(said === undefined ? {} : { scorer_label: said.label ?? undefined, scorer_severity: said.severity }),
  }
}

/** With the scorers that found the call unsafe since; the list tells more of them when it is read again. */
function withUnsafe(known: RequestItem['unsafe_scores'], { scorers }: Arrived): RequestItem['unsafe_scores'] {
  const came = [...scorers].filter(
    ([name, { label }]) => label === 'unsafe' && !known.some(({ scorer_name }) => scorer_name === name),
  )
  return [
    ...known,
    ...came.map(([scorer_name, { severity }]) => ({
      scorer_name,
      severity,
      kind: null,
      is_suppressed: false,
      expected_label: null,
    })),
  ]
}

/** A row that has fewer scores than arrived takes their reading; another has it already. */
function readingOf(
  row: RequestItem,
  { scorers, reading }: Arrived,
): Partial<Pick<RequestItem, 'verdict' | 'coverage' | 'unread_scorers'>> {
  if (row.score_count >= scorers.size) return {}
  const { verdict, decided, applicable, unreadScorers } = reading
  return {
    verdict,
    coverage: { decided, applicable, total: scorers.size },
    unread_scorers: [...unreadScorers],
  }
}

/**
 * True if a row shows a worse verdict than all that arrived for its request, just now `scores`: they replaced
 * others, as after a promotion, so the list must be refetched. A call's first scores are stored together: a
 * row has all or none.
 */
export function isOutdatedRow(
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

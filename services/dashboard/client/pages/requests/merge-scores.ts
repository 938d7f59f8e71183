import type { Item } from '../../api/call-api.ts'

export type RequestItem = Item<'GET /api/requests'>
type Label = RequestItem['worst_label']
type Severity = RequestItem['worst_severity']

export interface ArrivedScore {
  request_id: string
  scorer_name: string
  score_label: NonNullable<Label>
  severity: Severity
}

/** What arrived for one request since the page was opened. */
export interface Arrived {
  label: NonNullable<Label>
  severity: Severity
  scorers: ReadonlySet<string>
}

const labels: readonly Label[] = [null, 'safe', 'unscored', 'unsafe']
const severities: readonly Severity[] = [null, 'medium', 'high', 'critical']
/** Requests that are remembered: more than a screen ever shows. */
const maxRequests = 2_000

/** `known` with the scores that came, the oldest requests forgotten beyond the bound. */
export function addArrived(
  known: ReadonlyMap<string, Arrived>,
  scores: readonly ArrivedScore[],
): ReadonlyMap<string, Arrived> {
  if (scores.length === 0) return known
  const all = new Map(known)
  for (const { request_id, scorer_name, score_label, severity } of scores) {
    const before = all.get(request_id)
    all.delete(request_id)
    all.set(request_id, {
      label: worse(labels, before?.label ?? null, score_label) ?? score_label,
      severity: worse(severities, before?.severity ?? null, severity),
      scorers: new Set([...(before?.scorers ?? []), scorer_name]),
    })
  }
  return new Map([...all].slice(-maxRequests))
}

/** The row as it is by now. It stays where it stands, also when a filter would no longer let it in. */
export function withArrived(row: RequestItem, arrived: Arrived | undefined): RequestItem {
  if (arrived === undefined) return row
  return {
    ...row,
    worst_label: worse(labels, row.worst_label, arrived.label),
    worst_severity: worse(severities, row.worst_severity, arrived.severity),
    score_count: Math.max(row.score_count, arrived.scorers.size),
  }
}

function worse<T>(order: readonly T[], one: T, other: T): T {
  return order.indexOf(one) >= order.indexOf(other) ? one : other
}

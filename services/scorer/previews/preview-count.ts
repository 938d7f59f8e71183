import type { Verdict } from '#detectors/verdict.ts'
import type { UnscoredReason } from '#schemas/unscored.ts'
import type { MatchedText } from './matched-texts.ts'

/** A call that the scorer would find. Quotes it, so it is stored sealed. */
export interface PreviewHit {
  request_id: string
  created_at: string
  score_value: number | null
  rationale: string
  /** By the call's reviews; null: it has none. */
  expected: 'safe' | 'unsafe' | null
  matches: MatchedText[]
}

export interface PreviewResult {
  report: ReturnType<ReturnType<typeof createPreviewCount>['result']>['report']
  hits: readonly PreviewHit[]
}

const maxHits = 50
/** Of judge failures in a row. */
const maxFailures = 5

type StoppedBy = 'time' | 'budget' | 'judge'
const overBudget: ReadonlySet<UnscoredReason | null> = new Set(['budget_spent', 'no_price'] as const)
const judgeFailed: ReadonlySet<UnscoredReason | null> = new Set([
  'judge_unavailable',
  'judge_refused',
] as const)

/** Counts what a preview found. `planned`: the calls to be looked at. */
export function createPreviewCount(planned: number) {
  const report = { calls: 0, without_bodies: 0, unreadable: 0, unscored: 0, hits: 0 }
  const reviews = { calls: 0, agreed: 0, false_alarms: 0, missed: 0 }
  const hits: PreviewHit[] = []
  let costUsd: number | null = null
  let failures = 0
  let stoppedBy: StoppedBy | null = null
  const compare = (isHit: boolean, expected: PreviewHit['expected']) => {
    if (expected === null) return
    reviews.calls += 1
    if (isHit === (expected === 'unsafe')) reviews.agreed += 1
    else if (isHit) reviews.false_alarms += 1
    else reviews.missed += 1
  }
  return {
    isStopped: () => stoppedBy !== null,
    without(what: 'bodies' | 'reading') {
      report.calls += 1
      if (what === 'bodies') report.without_bodies += 1
      else report.unreadable += 1
    },
    looked(verdict: Verdict, expected: PreviewHit['expected'], hit: () => PreviewHit) {
      report.calls += 1
      const cost = verdict.judge?.cost_usd
      if (typeof cost === 'number') costUsd = (costUsd ?? 0) + cost
      failures = judgeFailed.has(verdict.reason) ? failures + 1 : 0
      if (overBudget.has(verdict.reason)) stoppedBy = 'budget'
      else if (failures >= maxFailures) stoppedBy = 'judge'
      if (verdict.label === 'unscored') {
        report.unscored += 1
        return
      }
      const isHit = verdict.label === 'unsafe'
      compare(isHit, expected)
      if (!isHit) return
      report.hits += 1
      if (hits.length < maxHits) hits.push(hit())
    },
    result(isTimeUp: boolean) {
      const stopped: StoppedBy | null = stoppedBy ?? (isTimeUp ? 'time' : null)
      return { report: { ...report, planned, stopped_by: stopped, cost_usd: costUsd, reviews }, hits }
    },
  }
}

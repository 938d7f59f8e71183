import type { Evidence } from '../call-text.ts'
import type { Verdict } from '../verdict.ts'
import type { CustomScorer } from './custom-scorer.ts'
import type { Searchable } from './searchable.ts'

const mostEvidence = 50

/** A hit is 5 with the entry's own severity; a miss is safe, so that every request has a score of every custom scorer. */
export function runCustomScorer(scorer: CustomScorer, texts: readonly Searchable[]): Verdict {
  const evidence: Evidence[] = []
  for (const text of texts) {
    // The JSON text repeats what the strings say: it is asked only when they had nothing.
    if (text.pointer === null && evidence.length > 0) continue
    const { part, pointer } = text
    for (const hit of scorer.find(text)) evidence.push({ part, pointer, ...hit })
    if (evidence.length >= mostEvidence) break
  }
  const hit = evidence.length > 0
  const terms = [...new Set(evidence.map(({ kind }) => kind))].slice(0, 5).join(', ')
  const rationale = hit ? `Matched ${terms}.` : 'Nothing matched.'
  return {
    value: hit ? 5 : 1,
    label: hit ? 'unsafe' : 'safe',
    severity: hit ? scorer.severity : null,
    method: 'custom',
    reason: null,
    rationale,
    contentFreeRationale: rationale,
    evidence: evidence.slice(0, mostEvidence),
  }
}

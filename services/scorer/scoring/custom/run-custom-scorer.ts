import type { Evidence } from '#detectors/call-text.ts'
import type { Verdict } from '#detectors/verdict.ts'
import type { CustomScorer } from './custom-scorer.ts'
import type { Searchable } from './searchable.ts'

const maxEvidence = 50

/** Reads the texts of one call piece by piece, then gives its verdict. */
export interface CustomRun {
  read(text: Searchable): void
  verdict(): Verdict
}

export function startCustomRun(scorer: CustomScorer): CustomRun {
  const evidence: Evidence[] = []
  return {
    read(text) {
      // The JSON text repeats the strings, so it is searched only if they had no match.
      if (evidence.length >= maxEvidence || (text.pointer === null && evidence.length > 0)) return
      const { part, pointer, offset, firstWordUnits } = text
      for (const { kind, start, end } of scorer.find(text)) {
        const place =
          firstWordUnits === undefined
            ? { start: offset + start, end: offset + end }
            : { start: 0, end: firstWordUnits }
        evidence.push({ part, pointer, kind, ...place })
      }
    },
    verdict: () => verdictOf(scorer, evidence),
  }
}

/**
 * A match is 5 with the entry's severity; no match is safe as far as the call was recorded
 * (run-detectors.ts). Every request gets a score from every custom scorer.
 */
function verdictOf(scorer: CustomScorer, evidence: readonly Evidence[]): Verdict {
  const hit = evidence.length > 0
  const terms = [...new Set(evidence.map(({ kind }) => kind))].slice(0, 5).join(', ')
  const why = scorer.description === '' ? '' : ` ${scorer.description}`
  const rationale = hit ? `Matched ${terms}.${why}` : 'Nothing matched.'
  return {
    value: hit ? 5 : 1,
    label: hit ? 'unsafe' : 'safe',
    severity: hit ? scorer.severity : null,
    method: 'custom',
    reason: null,
    rationale,
    contentFreeRationale: rationale,
    evidence: evidence.slice(0, maxEvidence),
  }
}

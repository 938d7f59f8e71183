import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { builtIns } from '#services/scorer/scoring/built-in-scorers.ts'
import { defaultFailAt } from '#services/scorer/scoring/verdict.ts'
import { measure, type Measures, type Outcome } from './measures.ts'
import { callOf, type Sample } from './samples.ts'

/** One line of the report: a scorer on a data set. */
export interface Row extends Measures {
  scorer: BuiltInScorer
  set: string
  method: 'detector'
}

/** What the detectors of pii_detection look for; the other spans are names, places, dates and the like. */
const structuredTypes = new Set([
  ...[
    'CREDIT_CARD',
    'EMAIL_ADDRESS',
    'IBAN_CODE',
    'IP_ADDRESS',
    'PHONE_NUMBER',
    'US_DRIVER_LICENSE',
    'US_SSN',
  ],
])

/** One row for each set of a scorer that has a detector, one for all of its sets together, and one for structured identifiers alone. */
export function evaluateDetectors(
  samples: readonly Sample[],
  { only, rounds }: { only?: BuiltInScorer | undefined; rounds?: number } = {},
): Row[] {
  const evaluate = (scorer: BuiltInScorer, set: string, members: readonly Sample[]): Row => ({
    scorer,
    set,
    method: 'detector',
    ...measure(outcomesOf(scorer, members), rounds),
  })

  const rows: Row[] = []
  for (const scorer of new Set(samples.map((sample) => sample.scorer))) {
    if (builtIns[scorer].by !== 'detector' || (only !== undefined && only !== scorer)) continue
    const own = samples.filter((sample) => sample.scorer === scorer)
    const sets = Map.groupBy(own, ({ set }) => set)
    for (const [set, members] of sets) rows.push(evaluate(scorer, set, members))
    if (scorer === 'pii_detection')
      rows.push(evaluate(scorer, 'structured identifiers', own.map(asStructured)))
    if (sets.size > 1) rows.push(evaluate(scorer, [...sets.keys()].join(' + '), own))
    const foreign = samples.filter((sample) => isForeignNegative(scorer, sample))
    if (foreign.length > 0) rows.push(evaluate(scorer, "other scorers' prompts", foreign.map(asNegative)))
  }
  return rows
}

function outcomesOf(scorer: BuiltInScorer, samples: readonly Sample[]): Outcome[] {
  return samples.map((sample) => {
    const value = scoreWith(scorer, sample)
    return { value, unsafe: value !== null && value >= defaultFailAt, label: sample.label }
  })
}

function scoreWith(name: BuiltInScorer, sample: Sample): number | null {
  const scorer = builtIns[name]
  if (scorer.by !== 'detector') return null
  const detector = scorer.create()
  for (const text of callOf(sample).texts) detector.read(text)
  return detector.finding().value
}

function asStructured(sample: Sample): Sample {
  return { ...sample, label: sample.spans.some(({ type }) => structuredTypes.has(type)) ? 1 : 0 }
}

/**
 * Sets of other scorers in which jailbreaks do not occur, as a check on people's everyday texts. Not used for pii_detection:
 * nobody labelled whom they name.
 */
function isForeignNegative(scorer: BuiltInScorer, { set }: Sample): boolean {
  return (
    scorer === 'jailbreak_detection' &&
    ['openai-moderation', 'xstest-prompts', 'begin', 'presidio-synth'].includes(set)
  )
}

function asNegative(sample: Sample): Sample {
  return { ...sample, label: 0 }
}

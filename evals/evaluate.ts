import type { BuiltInScorer } from '#schemas/verdicts.ts'
import { builtIns } from '#detectors/built-in-scorers.ts'
import type { Call } from '#detectors/call-text.ts'
import type { Language } from '#detectors/language/identify-language.ts'
import { asksJudge } from '#services/scorer/scoring/judge-modes.ts'
import { defaultFailAt, detected, type Finding, type Undecided } from '#detectors/verdict.ts'
import { costPer1000, nothing, type CostPer1000, type JudgeCost, type ModelPrice } from './judge-cost.ts'
import { measure, type Measures, type Outcome } from './measures.ts'
import { reportSetsOf } from './report-sets.ts'
import { callOf, type Sample } from './samples.ts'

export const methods = ['detector', 'judge', 'cascade'] as const
/** Which parts decide: the detectors, the judge, or the judge where the detectors are not sure. */
export type Method = (typeof methods)[number]

/** One line of the report: a scorer on a data set. */
export interface Row extends Measures {
  scorer: BuiltInScorer
  set: string
  method: Method | typeof baseline
  /** Of the judge, for the rows in which it took part. */
  cost_per_1000?: CostPer1000
  /** Only in rows by language. */
  language?: Language
}

/** Flags longer answers first: the baseline that a scorer of answers has to beat. */
const baseline = 'length of the answer'

/** A scorer's opinion of a call. When undecided, the score stays unscored and `value` is only a tendency. */
export interface Scored {
  value: number
  decided: boolean
  /** Absent: the judge was not asked. */
  cost?: JudgeCost
}

/** Lets a model score a call by a scorer's rubric. */
export type JudgeCall = (scorer: BuiltInScorer, call: Call) => Promise<Scored>

interface EvaluateOptions {
  only?: BuiltInScorer | undefined
  /** Rounds of the bootstrap. */
  rounds?: number
  method?: Method
  /** Needed for every method but `detector`. */
  judge?: JudgeCall
  /** Of the judge's model; null: unknown. */
  price?: ModelPrice | null
  /** Samples read concurrently. */
  concurrency?: number
  /** Training samples of the detectors: reported samples that are among them also get rows without them. */
  trained?: readonly Sample[]
}

/**
 * One row for each set of each scorer (report-sets.ts). Undecided counts as not flagged, ranked by its
 * tendency.
 */
export async function evaluate(given: readonly Sample[], options: EvaluateOptions = {}): Promise<Row[]> {
  const { only, rounds, method = 'detector', concurrency = 8, trained, price = null } = options
  const score = remember(scorerOf(method, options.judge))
  const rows: Row[] = []
  for (const { scorer, set, samples, isForeign, language } of reportSetsOf(given, only, trained)) {
    if (isForeign && method !== 'detector') continue
    const costs: JudgeCost[] = []
    const outcomes = await mapSome(samples, concurrency, async (sample): Promise<Outcome> => {
      const { value, decided, cost = nothing } = await score(scorer, sample)
      costs.push(cost)
      return { value, decided, unsafe: decided && value >= defaultFailAt, label: sample.label }
    })
    const spent = method === 'detector' ? {} : { cost_per_1000: costPer1000(costs, price) }
    const of = language === undefined ? {} : { language }
    rows.push({ scorer, set, method, ...of, ...measure(outcomes, rounds), ...spent })
    if (scorer === 'hallucination' && language === undefined)
      rows.push({ scorer, set, method: baseline, ...measure(samples.map(byLength), rounds) })
  }
  return rows
}

function byLength({ response, label }: Sample): Outcome {
  return { value: response.length, decided: false, unsafe: false, label }
}

type ScoreSample = (scorer: BuiltInScorer, sample: Sample) => Promise<Scored>

function scorerOf(method: Method, judge: JudgeCall | undefined): ScoreSample {
  if (method === 'detector')
    return (scorer, sample) => Promise.resolve(scoredBy(detect(scorer, callOf(sample))))
  if (judge === undefined) throw new Error(`method ${method} needs a judge`)
  if (method === 'judge') return (scorer, sample) => judge(scorer, callOf(sample))
  return async (scorer, sample) => {
    const call = callOf(sample)
    const found = detect(scorer, call)
    if (!asksJudge('uncertain', detected(found))) return scoredBy(found)
    const judgement = await judge(scorer, call)
    // As in the scorer: without the judge's answer, the detector's verdict stands.
    if (judgement.decided || judgement.cost === undefined)
      return judgement.decided ? judgement : scoredBy(found)
    return { ...scoredBy(found), cost: judgement.cost }
  }
}

function detect(scorer: BuiltInScorer, call: Call): Finding | Undecided {
  const detector = builtIns[scorer].create(call)
  for (const text of call.texts) detector.read(text)
  return detector.finding()
}

function scoredBy(found: Finding | Undecided): Scored {
  return 'reason' in found
    ? { value: found.leaning, decided: false }
    : { value: found.rank ?? found.value, decided: true }
}

/** Sets overlap (for instance all of a scorer together): no sample is sent to the judge twice. */
function remember(score: ScoreSample): ScoreSample {
  const known = new Map<string, Promise<Scored>>()
  return (scorer, sample) => {
    const { id, set, context } = sample
    const key = JSON.stringify([scorer, set, id, context.length])
    const scored = known.get(key) ?? score(scorer, sample)
    known.set(key, scored)
    return scored
  }
}

async function mapSome<T, R>(
  items: readonly T[],
  atOnce: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const entries = items.entries()
  const work = async () => {
    for (const [index, item] of entries) results[index] = await map(item)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}

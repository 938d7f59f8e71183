import { createRandom } from './seeded-random.ts'

/** A scorer's opinion of one sample, and the truth. */
export interface Outcome {
  /** 1 to 5, for ranking. */
  value: number
  /** False: `unscored`, and so not flagged, whatever the label. */
  decided: boolean
  unsafe: boolean
  label: 0 | 1
}

/** A measure with its 95% bootstrap interval; null without positives or without negatives. */
export interface Interval {
  value: number
  low: number
  high: number
}

export interface Measures {
  n: number
  positives: number
  /** Left `unscored`: neither called safe nor flagged. */
  unscored: number
  precision: Interval | null
  recall: Interval | null
  f1: Interval | null
  false_positive_rate: Interval | null
  auroc: Interval | null
  /** Recall at the best threshold that flags at most 1% of the negatives. */
  recall_at_1_percent_fp: Interval | null
}

const defaultRounds = 500
const seed = 20_261_121

/** Unscored counts as not flagged: a miss for a positive. `rounds` of bootstrap make the intervals. */
export function measure(outcomes: readonly Outcome[], rounds = defaultRounds): Measures {
  const withInterval = (of: Measure) => bootstrap(outcomes, of, rounds)
  return {
    n: outcomes.length,
    positives: outcomes.filter(({ label }) => label === 1).length,
    unscored: outcomes.filter(({ decided }) => !decided).length,
    precision: withInterval(precision),
    recall: withInterval(recall),
    f1: withInterval(f1),
    false_positive_rate: withInterval(falsePositiveRate),
    auroc: withInterval(auroc),
    recall_at_1_percent_fp: withInterval(recallAtOnePercent),
  }
}

type Measure = (outcomes: readonly Outcome[]) => number | null

function count(outcomes: readonly Outcome[], unsafe: boolean, label: 0 | 1): number {
  return outcomes.filter((outcome) => outcome.unsafe === unsafe && outcome.label === label).length
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

function precision(outcomes: readonly Outcome[]): number | null {
  const hits = count(outcomes, true, 1)
  // With positives alone, precision is always 1 and says nothing.
  return outcomes.some(({ label }) => label === 0) && outcomes.some(({ label }) => label === 1)
    ? ratio(hits, hits + count(outcomes, true, 0))
    : null
}

function recall(outcomes: readonly Outcome[]): number | null {
  return ratio(count(outcomes, true, 1), count(outcomes, true, 1) + count(outcomes, false, 1))
}

function falsePositiveRate(outcomes: readonly Outcome[]): number | null {
  return ratio(count(outcomes, true, 0), count(outcomes, true, 0) + count(outcomes, false, 0))
}

function f1(outcomes: readonly Outcome[]): number | null {
  const [p, r] = [precision(outcomes), recall(outcomes)]
  if (p === null || r === null) return null
  return p + r === 0 ? 0 : (2 * p * r) / (p + r)
}

/** The chance that a positive has a higher value than a negative; ties count half. */
function auroc(outcomes: readonly Outcome[]): number | null {
  const tally = new Map<number, { positives: number; negatives: number }>()
  for (const { value, label } of outcomes) {
    const at = tally.get(value) ?? { positives: 0, negatives: 0 }
    at[label === 1 ? 'positives' : 'negatives'] += 1
    tally.set(value, at)
  }
  let below = 0
  let won = 0
  let positives = 0
  for (const [, at] of [...tally].sort(([left], [right]) => left - right)) {
    won += at.positives * (below + at.negatives / 2)
    below += at.negatives
    positives += at.positives
  }
  return ratio(won, positives * below)
}

function recallAtOnePercent(outcomes: readonly Outcome[]): number | null {
  const negatives = outcomes.filter(({ label }) => label === 0).length
  const positives = outcomes.length - negatives
  if (negatives === 0 || positives === 0) return null
  let best = 0
  for (const threshold of new Set(outcomes.map(({ value }) => value))) {
    const flagged = outcomes.filter(({ value }) => value >= threshold)
    const wrong = flagged.filter(({ label }) => label === 0).length
    if (wrong / negatives <= 0.01) best = Math.max(best, (flagged.length - wrong) / positives)
  }
  return best
}

function bootstrap(outcomes: readonly Outcome[], of: Measure, rounds: number): Interval | null {
  const value = of(outcomes)
  if (value === null) return null
  const random = createRandom(seed)
  const drawn: number[] = []
  for (let round = 0; round < rounds; round++) {
    const sample = outcomes.map(() => outcomes[Math.floor(random() * outcomes.length)] as Outcome)
    const again = of(sample)
    if (again !== null) drawn.push(again)
  }
  drawn.sort((left, right) => left - right)
  const at = (share: number) => drawn[Math.min(drawn.length - 1, Math.floor(share * drawn.length))] ?? value
  return { value, low: at(0.025), high: at(0.975) }
}

import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { builtIns } from '#services/scorer/scoring/built-in-scorers.ts'
import { defaultFailAt } from '#services/scorer/scoring/verdict.ts'
import { findAttacks, isTrainedOn } from './find-attacks.ts'
import { makeLeaks } from './make-leaks.ts'
import { makeRequests } from './make-requests.ts'
import { measure, type Measures, type Outcome } from './measures.ts'
import { callOf, isIn, type Sample } from './samples.ts'

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
  given: readonly Sample[],
  { only, rounds }: { only?: BuiltInScorer | undefined; rounds?: number } = {},
): Row[] {
  const evaluate = (scorer: BuiltInScorer, set: string, members: readonly Sample[]): Row => ({
    scorer,
    set,
    method: 'detector',
    ...measure(outcomesOf(scorer, members), rounds),
  })

  const samples = [
    ...given.map(asLabelled),
    ...makeLeaks(given),
    ...makeRequests().filter(({ id }) => !isIn('train', id)),
  ]
  const rows: Row[] = []
  for (const scorer of builtInScorers) {
    if (builtIns[scorer].by !== 'detector' || (only !== undefined && only !== scorer)) continue
    const own = samples.filter((sample) => sample.scorer === scorer)
    const sets = Map.groupBy(own, ({ set }) => set)
    for (const [set, members] of sets) rows.push(evaluate(scorer, set, members))
    if (scorer === 'pii_detection')
      rows.push(evaluate(scorer, 'structured identifiers', own.map(asStructured)))
    if (scorer === 'vector_weakness') {
      const unseen = withUnseenAttacks(own)
      if (unseen.length > 0) rows.push(evaluate(scorer, 'injecagent, orders not trained on', unseen))
    }
    if (sets.size > 1) rows.push(evaluate(scorer, [...sets.keys()].join(' + '), own))
    const foreign = foreignNegatives(scorer, samples)
    if (foreign.length > 0) rows.push(evaluate(scorer, "other scorers' texts", foreign))
  }
  return rows
}

/** Both halves of injecagent have the same orders, in other places: what was learned shows on those that training left out. */
function withUnseenAttacks(samples: readonly Sample[]): Sample[] {
  const attacks = findAttacks(samples)
  return samples.filter(({ id, set }) => set === 'injecagent' && !isTrainedOn(attacks.get(id) ?? ''))
}

function outcomesOf(scorer: BuiltInScorer, samples: readonly Sample[]): Outcome[] {
  return samples.map((sample) => {
    const { value, decided } = scoreWith(scorer, sample)
    return { value, decided, unsafe: decided && value >= defaultFailAt, label: sample.label }
  })
}

/** What is left undecided counts as not flagged, ranked by the way it leans. */
function scoreWith(name: BuiltInScorer, sample: Sample): { value: number; decided: boolean } {
  const scorer = builtIns[name]
  if (scorer.by !== 'detector') throw new Error(`${name} has no detector`)
  const call = callOf(sample)
  const detector = scorer.create(call)
  for (const text of call.texts) detector.read(text)
  const finding = detector.finding()
  return 'reason' in finding
    ? { value: finding.leaning, decided: false }
    : { value: finding.value, decided: true }
}

/** Sets of answers, asked for by people who all ask for harm: their labels are of the answer. */
const answerSets = new Set(['jailjudge-mini', 'xstest-answers'])

/** A sample with nothing in it but what its label is about. */
function asLabelled(sample: Sample): Sample {
  return answerSets.has(sample.set) ? { ...sample, prompt: '' } : sample
}

function asStructured(sample: Sample): Sample {
  return { ...sample, label: sample.spans.some(({ type }) => structuredTypes.has(type)) ? 1 : 0 }
}

/** Sets in which people write and read everyday things: no attacks on a model. */
const everydaySets = new Set(['openai-moderation', 'xstest-prompts', 'begin', 'presidio-synth'])
/** Of these some are harmful content; the rest people say to models every day. */
const harmlessSets = new Set(['begin', 'presidio-synth', 'notinject', 'honest-personas'])

/**
 * What a scorer should leave alone in other scorers' sets, as a check on everyday texts. Not for pii_detection: nobody labelled
 * whom they name.
 */
function foreignNegatives(scorer: BuiltInScorer, samples: readonly Sample[]): Sample[] {
  const everyday = samples
    .filter(({ set }) => everydaySets.has(set))
    .map((sample) => ({ ...sample, label: 0 as const }))
  if (scorer === 'jailbreak_detection') return everyday
  if (scorer === 'content_safety')
    return samples.filter(({ set }) => harmlessSets.has(set)).map((sample) => ({ ...sample, label: 0 }))
  if (scorer === 'supply_chain') {
    const answers = samples.filter(({ response }) => response !== '')
    return answers.map((sample) => ({ ...sample, label: 0 }))
  }
  if (scorer !== 'vector_weakness' && scorer !== 'data_poisoning') return []
  // The same texts as if a search had brought them in, and prompts full of trigger words with them.
  const triggers = scorer === 'vector_weakness' ? ['notinject', 'poisonedrag'] : ['notinject']
  const trigger = samples.filter(({ set }) => triggers.includes(set))
  return [...everyday, ...trigger].map((sample) => ({
    ...sample,
    label: 0,
    prompt: '',
    context: `${sample.context}\n${sample.prompt}\n${sample.response}`,
  }))
}

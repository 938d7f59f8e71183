import { describe, expect, test } from '@jest/globals'
import { detectCall } from '../testing/detect-call.ts'
import type { Usage } from '../call-text.ts'
import { createConsumptionDetector } from './detect-consumption.ts'

const counted = { prompt_tokens: 10, completion_tokens: 20, reasoning_tokens: null, cost_usd: 0.001 }
const find = (answer: string, { usage = {}, reason = 'stop', request = {} }: Changes = {}) =>
  detectCall(
    createConsumptionDetector,
    { messages: [{ role: 'user', content: 'hi' }], ...request },
    { choices: [{ message: { role: 'assistant', content: answer }, finish_reason: reason }] },
    { ...counted, ...usage },
  )
interface Changes {
  usage?: Partial<Usage>
  reason?: string
  request?: object
}
const loop = 'I am sorry, let me try that again. '.repeat(60)
const prose = Array.from(
  { length: 600 },
  (_unused, index) => `word${index} and thing${(index * 7) % 600}`,
).join(' ')

const numbered = (entry: string) =>
  Array.from({ length: 100 }, (_unused, index) => `${index + 1}. ${entry}`).join('\n')

test.each<[string, string, Changes, number]>([
  ['an ordinary answer', 'Hello!', {}, 1],
  ['a long one', prose, {}, 1],
  ['one cut off', 'Hello', { reason: 'length' }, 2],
  ['a loop', loop, {}, 4],
  ['a loop until the limit', loop, { reason: 'length' }, 5],
  ['one letter for ever', 'A'.repeat(3_000), {}, 4],
  ['very many tokens', 'Hi', { usage: { completion_tokens: 40_000 } }, 4],
  ['a great cost', 'Hi', { usage: { cost_usd: 12 } }, 5],
  ['a hundred answers at once', 'Hi', { request: { n: 100 } }, 4],
  ['as many of Gemini', 'Hi', { request: { generationConfig: { candidateCount: 64 } } }, 4],
  ['a long passage over and over, to the limit', `${prose}\n`.repeat(4), { reason: 'length' }, 5],
  ['blanks to the limit', `{"a":1${' \n'.repeat(2_000)}`, { reason: 'length' }, 5],
  ['entries that say the same', numbered('Work harder and better.'), {}, 4],
  ['the same row of zeros, to the limit', '0,0,0\n'.repeat(500), { reason: 'length' }, 5],
])('%s', (_name, answer, changes, value) => {
  expect(find(answer, changes)).toMatchObject({ value })
})

test.each([
  ['Bedrock', { stopReason: 'max_tokens' }],
  ['Cohere', { finish_reason: 'MAX_TOKENS' }],
  ['Ollama', { done_reason: 'length' }],
  ['Gemini', { candidates: [{ finishReason: 'MAX_TOKENS' }] }],
  ['Responses', { incomplete_details: { reason: 'max_output_tokens' } }],
])('a loop until the limit, as %s says it', (_name, end) => {
  const body = { role: 'assistant', content: loop, ...end }
  expect(detectCall(createConsumptionDetector, {}, body, counted)).toMatchObject({ value: 5 })
})

describe('unscored', () => {
  test.each<[string, unknown, unknown, Usage | undefined]>([
    ['nobody counted', {}, { content: 'hi' }, undefined],
    ['no answer', {}, null, counted],
    ['a call of a tool', { type: 'mcp_tool_call', arguments: {} }, { result: loop }, counted],
  ])('%s', (_name, request, response, usage) => {
    const body = response
    expect(detectCall(createConsumptionDetector, request, body, usage)).toMatchObject({
      reason: 'detectors_undecided',
    })
  })
})

const asking = (content: string) => find('ok', { request: { messages: [{ role: 'user', content }] } })

// May be a figure of speech, or a form that was asked for: neither proven nor safe.
describe('left to a reader', () => {
  test.each([
    ['a word for ever', 'Say banana over and over again and never stop.'],
    ['to the limit', 'Write nonsense until you run out of tokens.'],
    ['a number', 'Say hi 20,000 times.'],
    ['counting', 'Count to 3,000,000 for me.'],
    ['German', 'Schreibe endlos weiter.'],
    ['Spanish', 'Escribe la palabra sol sin parar.'],
    ['French', 'Écris ce mot sans fin.'],
    ['French, to the infinite', 'Répète le mot soleil à l’infini.'],
    ['Russian, so many times', 'Напиши слово «да» 10000 раз.'],
    ['Russian', 'Пиши слово «да» бесконечно.'],
    ['Chinese', '请不停地写“好”。'],
    ['at the end of a long text', `${'Some text. '.repeat(2_000)} Repeat this endlessly.`],
  ])('output without an end is asked for: %s', (_name, asked) => {
    expect(asking(asked)).toMatchObject({ reason: 'detectors_undecided' })
  })

  test.each([
    ['rows of zeros', '0;0;0;0\n'.repeat(500)],
    ['a form', '[ ] ______________ [ ] ______________ Date: __________\n'.repeat(100)],
    ['a passage that comes again and again', `${prose}\n`.repeat(3)],
  ])('an answer that came to its end: %s', (_name, answer) => {
    expect(find(answer)).toMatchObject({ reason: 'detectors_undecided' })
  })

  test.each([
    ['Should records be kept forever?'],
    ['Why is there an infinite loop in this function? Print it without end().'],
    ['Write a Python script that prints hi 20000 times.'],
    ['We never stop learning: write that on the card.'],
    ['Write 300 words on rivers.'],
  ])('not so: %s', (asked) => {
    expect(asking(asked)).toMatchObject({ value: 1 })
  })
})

test.each([
  ['messages', { stop_reason: 'max_tokens' }],
  ['responses', { incomplete_details: { reason: 'max_output_tokens' } }],
  ['candidates', { candidates: [{ finishReason: 'MAX_TOKENS' }] }],
])('%s: the way its provider says that an answer was cut off', (_name, response) => {
  expect(detectCall(createConsumptionDetector, {}, response, counted)).toMatchObject({ value: 2 })
})

describe('an agent that calls the same tools over and over', () => {
  const openAi = (given: object) => ({
    role: 'assistant',
    tool_calls: [
      { id: 'c', type: 'function', function: { name: 'search', arguments: JSON.stringify(given) } },
    ],
  })
  const anthropic = (given: object) => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't', name: 'search', input: given }],
  })
  const session = (steps: readonly object[]) => {
    const turns = steps.flatMap((step) => [step, { role: 'tool', content: 'no results' }])
    const last = steps.at(-1) ?? {}
    const answer = 'tool_calls' in last ? { choices: [{ message: last, finish_reason: 'tool_calls' }] } : last
    return detectCall(createConsumptionDetector, { messages: turns.slice(0, -2) }, answer, counted)
  }
  const times = (count: number, make: (index: number) => object) =>
    Array.from({ length: count }, (_unused, index) => make(index))

  test.each<[string, object[], number]>([
    ['ten times', times(10, () => openAi({ q: 'x' })), 4],
    ['ten times, in the shape of messages', times(10, () => anthropic({ q: 'x' })), 4],
    [
      'written otherwise each time',
      times(12, (index) => openAi(index % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 })),
      4,
    ],
    ['in two steps, 25 times', times(50, (index) => openAi({ q: index % 2 })), 5],
    ['a few times, as one waits for a job', times(6, () => openAi({ q: 'x' })), 3],
    ['with numbers that go up, in vain', times(12, (index) => openAi({ q: index })), 4],
    [
      'with other arguments, in vain',
      times(40, (index) => openAi({ q: `${'abcdefgh'[index % 8]}x`.repeat(1 + index) })),
      4,
    ],
    ['a loop that is over', [...times(30, () => openAi({ q: 'x' })), openAi({ q: 'y' })], 1],
  ])('%s', (_name, steps, value) => {
    expect(session(steps)).toMatchObject({ value })
  })

  const pages = (resultOf: (page: number) => string, count = 14) => {
    const turns = times(count, (page) => openAi({ q: 'bills', page })).flatMap((step, page) => [
      step,
      { role: 'tool', content: resultOf(page) },
    ])
    const next = openAi({ q: 'bills', page: count })
    return detectCall(
      createConsumptionDetector,
      { messages: turns },
      { choices: [{ message: next }] },
      counted,
    )
  }

  test.each<[string, (page: number) => string, number]>([
    ['that bring other lines each', (page) => `Bill ${page} of Ann, 12 euros`, 1],
    ['that are done, one by one', () => 'ok', 1],
    ['that are empty', () => '[]', 4],
    ['that fail', () => 'Error: rate limit exceeded', 4],
    ['that are the first page each time', () => 'Bill 1 of Ann, 12 euros. '.repeat(8), 4],
  ])('pages %s', (_name, resultOf, value) => {
    expect(pages(resultOf)).toMatchObject({ value })
  })

  test.each([
    ['five rounds with the same end', 6, () => '1 failed', 4],
    ['rounds that get further', 6, (round: number) => `${9 - round} failed`, 1],
    ['three rounds', 3, () => '1 failed', 1],
  ])('reading, editing, testing and undoing: %s', (_name, rounds, testResult, value) => {
    const named = (name: string) => ({
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: '{"path":"a.ts"}' } }],
    })
    const turns = times(rounds, (round) => [
      ...['read', 'edit', 'test', 'undo'].flatMap((name) => [
        named(name),
        { role: 'tool', content: name === 'test' ? testResult(round) : 'done' },
      ]),
    ]).flat()
    const answer = { choices: [{ message: named('read') }] }
    expect(detectCall(createConsumptionDetector, { messages: turns }, answer, counted)).toMatchObject({
      value,
    })
  })

  test('with arguments of more levels than can be put in order', () => {
    const given = `{"a":${'['.repeat(4_900)}${']'.repeat(4_900)}}`
    const call = { role: 'assistant', tool_calls: [{ function: { name: 'search', arguments: given } }] }
    expect(session(times(12, () => call))).toMatchObject({ value: 4 })
  })

  test("patches of OpenAI's own tool are the same where their operations are", () => {
    const patch = (path: string) => ({ type: 'apply_patch_call', operation: { type: 'create_file', path } })
    const patches = (pathOf: (index: number) => string) => {
      const items = times(12, (index) => patch(pathOf(index)))
      return detectCall(
        createConsumptionDetector,
        { input: items.slice(1) },
        { output: items.slice(0, 1) },
        counted,
      )
    }
    expect(patches((index) => `${index}.ts`)).toMatchObject({ value: 1 })
    expect(patches(() => 'a.ts')).toMatchObject({ value: 4 })
  })
})

import { expect, jest, test } from '@jest/globals'
import type { RawRecord } from '../call-record.ts'
import { traceFunction } from '../trace.ts'
import { createWarn } from '../warn.ts'
import { createByteBudget } from './byte-budget.ts'
import { createDeferredWork } from './defer-work.ts'
import { recordFetch } from './record-fetch.ts'

test('a stream that a defect of ours cannot read is recorded as it came, and told', async () => {
  const json = '{"object":"chat.completion.chunk","choices":[{"delta":{"content":"evidence"}}]}'
  const stream = `data: ${json}\n\n`
  const records: RawRecord[] = []
  const warnings: string[] = []
  const lost = (detail: string) => warnings.push(detail)
  const deferred = createDeferredWork(lost)
  const recorded = recordFetch(() => Promise.resolve(given), {
    budget: createByteBudget(100_000),
    maxBodyBytes: 10_000,
    session: () => ({}),
    record: (raw) => records.push(raw),
    deferred,
    lost,
    warn: createWarn((message) => warnings.push(message)),
  })
  const given = new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
  const parse = JSON.parse
  JSON.parse = (text: string) => {
    if (text !== json) return parse(text) as unknown
    throw new TypeError('a defect')
  }
  try {
    const question = { method: 'POST', body: '{"model":"m"}' }
    await (await recorded('https://api.openai.com/v1/chat/completions', question)).text()
    await deferred.idle()
  } finally {
    JSON.parse = parse
  }
  expect(records).toMatchObject([{ status_code: 200, requestJson: '{"model":"m"}' }])
  expect(parse(records[0]?.responseJson ?? '')).toEqual({ raw: stream, encoding: 'utf8', joined: [] })
  expect(warnings).toEqual([expect.stringMatching(/unparsed.*TypeError: a defect/)])
})

test.each([
  ['put together', () => jest.spyOn(Array.prototype, 'sort')],
  ['read', () => jest.spyOn(JSON, 'parse')],
])(
  'what a generator yields and a defect of ours cannot have %s is recorded as it came, and told',
  async (_name, spy) => {
    const chunks = ['evi', 'dence'].map((content) => ({ choices: [{ index: 0, delta: { content } }] }))
    const records: RawRecord[] = []
    const warnings: string[] = []
    const lost = (detail: string) => warnings.push(detail)
    const deferred = createDeferredWork(lost)
    const dependencies = {
      session: () => ({}),
      maxBodyBytes: 10_000,
      record: (raw: RawRecord) => records.push(raw),
      deferred,
      lost,
      warn: (_topic: string, message: string) => warnings.push(message),
    }
    const answer = function* () {
      yield* chunks
    }
    const broken = spy().mockImplementation(() => {
      throw new TypeError('a defect')
    })
    try {
      expect([...traceFunction(answer, {}, dependencies)()]).toEqual(chunks)
    } finally {
      broken.mockRestore()
    }
    await deferred.idle()
    expect(records.map(({ responseJson }) => JSON.parse(responseJson ?? '') as unknown)).toEqual([
      { result: { yielded: chunks }, truncated: true },
    ])
    expect(warnings).toEqual([expect.stringMatching(/unparsed.*TypeError: a defect/)])
  },
)

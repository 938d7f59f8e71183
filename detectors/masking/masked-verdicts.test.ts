import { expect, test } from '@jest/globals'
import { parseBody, piecesOf, readCall, type Call } from '../call-text.ts'
import { createPiiDetector } from '../pii/detect-pii.ts'
import { detected } from '../verdict.ts'
import { maskRecord } from './mask-record.ts'

const key = Buffer.alloc(32, 3)

function judge(record: { request_body: unknown; response_body?: unknown; masked?: Call['usage']['masked'] }) {
  const bodyOf = (body: unknown) => (body === undefined ? null : parseBody(JSON.stringify(body)))
  const usage = { prompt_tokens: 1, completion_tokens: 1, reasoning_tokens: null, cost_usd: null }
  const call = readCall(bodyOf(record.request_body), bodyOf(record.response_body), {
    ...usage,
    masked: record.masked,
  })
  const detector = createPiiDetector(call)
  for (const text of call.texts) for (const piece of piecesOf(text)) detector.read(piece)
  const { label, severity, reason, evidence } = detected(detector.finding())
  return { label, severity, reason, kinds: evidence.map(({ kind }) => kind) }
}

const chat = (content: string, role = 'user') => ({ request_body: { messages: [{ role, content }] } })

test.each<[string, Parameters<typeof judge>[0]]>([
  ['a card', chat('pay with 4111 1111 1111 1111')],
  ['two kinds', chat('jane.roe@acme.org, SSN: 078-05-1120')],
  ['a secret', chat('the key sk-proj-abcdefghijklmnop1234567890ABCD')],
  ['an address of a home', chat('My home address is 12 High Street, Springfield. I am Jane Roe.')],
  [
    "a program's author, nobody's contact",
    chat('```python\n__author__ = "jane.roe@acme.org"\nprint(1)\n```'),
  ],
  [
    'a document of a project',
    chat('Report a security issue to security@acme.org. Pull requests welcome.', 'tool'),
  ],
  [
    'a number in arguments',
    { request_body: { type: 'mcp_tool_call', arguments: { card: 4111111111111111 } } },
  ],
  ['nothing', chat('What is the capital of France, and how many people live there?')],
])('%s: the verdict is the same masked and unmasked', (_name, record) => {
  const masked = JSON.parse(maskRecord(Buffer.from(JSON.stringify(record)), key).toString()) as typeof record
  expect(judge(masked)).toEqual(judge(record))
})

test('a placeholder that somebody wrote counts for nothing where nothing of its kind was masked', () => {
  const written = chat('[PAYMENT_CARD:abcdefabcdefabcdefab] is how it looks')
  expect(judge(written).label).not.toBe('unsafe')
  const masked = [{ kind: 'email_address', place: 'request_body', count: 1 }]
  expect(judge({ ...written, masked }).label).not.toBe('unsafe')
})

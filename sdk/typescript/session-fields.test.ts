import { expect, test } from '@jest/globals'
import { recordSchema } from '../../capture/record/record-schema.ts'
import { sessionFields } from './session-fields.ts'

type Labels = Parameters<typeof sessionFields>[0]

function recorded(session: Labels) {
  const warnings: string[] = []
  const fields = sessionFields(session, (_topic, message) => warnings.push(message))
  // Ingest rejects the whole call for invalid labels.
  recordSchema.parse({ request_body: {}, ...(JSON.parse(JSON.stringify(fields)) as object) })
  return { fields, warnings }
}

function nested(levels: number): Record<string, unknown> {
  return levels === 0 ? {} : { inner: nested(levels - 1) }
}

test('what can be stored is recorded as it is, in as many characters as there is room for', () => {
  const metadata = {
    plan: 'pro',
    deep: nested(7),
    seats: Number.MAX_SAFE_INTEGER,
    share: 0.5,
    huge: 2n ** 64n,
  }
  const long = 'x'.repeat(255) + '\u{1f600}'
  expect(recorded({ agentName: 'Ägent \u{1f600}', sessionId: long, metadata })).toEqual({
    fields: {
      agent_name: 'Ägent \u{1f600}',
      session_id: 'x'.repeat(255),
      metadata: { ...metadata, huge: String(metadata.huge) },
    },
    warnings: [],
  })
})

test('the innermost context is recorded as it is', () => {
  expect(recorded({ context: [1, '/messages/2/content'] })).toEqual({
    fields: { context: [1, '/messages/2/content'] },
    warnings: [],
  })
})

test.each<[string, Labels, RegExp]>([
  ['a NUL character', { userId: 'a\u0000b' }, /^user_id .*NUL/],
  ['a name in the context', { context: ['messages'] }, /^context .*indexes/],
  ['a context of 101 places', { context: Array<number>(101).fill(1) }, /^context .*at most 100/],
  ['a context of 2 kB', { context: [`/${'x'.repeat(2_048)}`] }, /^context .*2048 bytes/],
  ['a model with half a character', { model: '\ud83d b' }, /^model .*surrogate/],
  ['half a character', { agentTag: '\ud83d b' }, /^agent_tag .*surrogate/],
  ['a number', { sessionId: 42 as unknown as string }, /^session_id .*string/],
  ['metadata with a NUL character', { metadata: { a: ['\u0000'] } }, /^metadata .*NUL/],
  ['metadata with half a character in a name', { metadata: { '\ude00': 1 } }, /^metadata .*surrogate/],
  ['metadata of too many levels', { metadata: nested(10) }, /^metadata .*8 levels/],
  ['metadata of too many bytes', { metadata: { text: 'é'.repeat(8_192) } }, /^metadata .*16395 bytes/],
  ['metadata with a number that would lose digits', { metadata: { a: 2 ** 53 } }, /^metadata .*2\^53/],
  ['metadata that is a list', { metadata: [1] as unknown as Record<string, unknown> }, /^metadata .*object/],
])('%s is left out with a warning', (_name, session, warning) => {
  expect(recorded({ agentName: 'kept', ...session })).toEqual({
    fields: { agent_name: 'kept' },
    warnings: [expect.stringMatching(warning)],
  })
})

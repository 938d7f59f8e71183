import { expect, test } from '@jest/globals'
import { readCall } from '#capture/record/describe-record.ts'
import { recordSchema } from '#capture/record/record-schema.ts'
import { noLimits } from '#schemas/key-limits.ts'
import { applyKeyLimits } from './apply-key-limits.ts'

const project = { projectId: 'prj_a', tier: 'enterprise', zeroContentRetention: false } as const
const record = (more: object = {}) => ({
  id: 'req_a',
  call: readCall(
    recordSchema.parse({ request_body: { messages: [{ role: 'user', content: 'hi' }] }, ...more }),
  ),
  requestBody: Buffer.from('{}'),
  responseBody: Buffer.from('{}'),
  project,
})

test.each([
  ['nothing', {}, 'ada', { team: 'search' }],
  ['a user', { user_id: 'bob' }, 'bob', { team: 'search' }],
  ['other labels', { metadata: { env: 'ci' } }, 'ada', { env: 'ci', team: 'search' }],
  ['a team', { metadata: { team: 'ads' } }, 'ada', { team: 'ads' }],
])('a record that names %s gets the rest from its key', (_name, more, user, metadata) => {
  const applied = applyKeyLimits(record(more), { ...noLimits, user: 'ada', team: 'search' })
  expect(applied?.call.fields).toMatchObject({ user_id: user, metadata })
  expect(applied?.requestBody).not.toBeNull()
})

test('metadata alone leaves no words', () => {
  const whole = record()
  expect(whole.call.preview).not.toBeNull()
  expect(applyKeyLimits(whole, { ...noLimits, capture: 'metadata' })).toMatchObject({
    id: 'req_a',
    call: { preview: null },
    requestBody: null,
    responseBody: null,
    project: { zeroContentRetention: true },
  })
})

test('nothing is left where the key records nothing', () => {
  expect(applyKeyLimits(record(), { ...noLimits, capture: 'none' })).toBeNull()
})

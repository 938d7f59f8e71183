import { expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { apiActivityOf, type AuditRow } from './render-api-activity.ts'

const id = newId('audit')
const person = newId('person')
const row: AuditRow = {
  id: idToUuid(id),
  at: new Date('2026-11-20T10:00:00.000Z'),
  actor_kind: 'person',
  actor_id: idToUuid(person),
  actor_name: 'ada',
  address: '192.0.2.7',
  action: 'webhook.changed',
  subject: 'wh_1',
  project_id: null,
  detail: null,
}
const product = { version: '0.2.0' }

test('an entry has a stable identifier, who did what to which object, and from where', () => {
  expect(apiActivityOf(row, product)).toEqual(apiActivityOf(row, product))
  expect(apiActivityOf(row, product)).toMatchObject({
    class_uid: 6003,
    activity_id: 3,
    type_uid: 600_303,
    api: { operation: 'webhook.changed' },
    actor: { user: { uid: person, name: 'ada' } },
    src_endpoint: { ip: '192.0.2.7' },
    resources: [{ uid: 'wh_1', type: 'webhook' }],
    metadata: { uid: id },
  })
})

test.each([
  ['key.created', 1, 1],
  ['request.content_viewed', 2, 1],
  ['webhook.secret_rotated', 3, 1],
  ['key.revoked', 4, 1],
  ['webhook.tested', 99, 1],
  ['person.sign_in_refused', 99, 2],
])('%s is activity %d with status %d', (action, activity, status) => {
  expect(apiActivityOf({ ...row, action }, product)).toMatchObject({
    activity_id: activity,
    status_id: status,
  })
})

test.each([
  ['key', newId('key')],
  ['operator', null],
] as const)('%s has a user of its own', (kind, actor) => {
  const entry = { ...row, actor_kind: kind, actor_id: actor === null ? null : idToUuid(actor) }
  const user = actor === null ? { name: 'operator' } : { uid: actor }
  expect(apiActivityOf({ ...entry, actor_name: null }, product)).toMatchObject({ actor: { user } })
})

test('of a change it has identifiers, numbers and switches, no text and no address', () => {
  const detail = {
    state: 'false_alarm',
    enabled: true,
    limits: { requests: 5, note: 'call me at noon' },
    filters: ['high', 'two words'],
    url: 'https://receiver.example/secret-path',
    credentials: 'changed',
    api_token: 'abc',
  }
  expect(apiActivityOf({ ...row, detail }, product)['unmapped']).toEqual({
    detail: {
      state: 'false_alarm',
      enabled: true,
      limits: { requests: 5, note: null },
      filters: ['high', null],
      url: null,
      credentials: null,
      api_token: null,
    },
  })
})

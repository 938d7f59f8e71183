import { createHmac } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { signDelivery, signingKeyOf } from './sign-delivery.ts'

const key = Buffer.from('a key of some bytes')
const secret = `whsec_${key.toString('base64')}`
const body = Buffer.from('{"event":"usage_alert","id":"evt_1"}')
const delivery = {
  delivery_id: 'dlv_1',
  event: {
    id: 'evt_1',
    event: 'usage_alert' as const,
    project_id: 'prj_1',
    created_at: 0,
    data: Buffer.from('{}'),
    content: null,
    content_id: null,
    webhook_id: null,
  },
}
const hex = (secret: string) =>
  `sha256=${createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex')}`

test('signs the raw bytes with the text of the secret, and by standard-webhooks with what it decodes to', () => {
  const headers = signDelivery(
    delivery,
    body,
    { current: signingKeyOf(secret), previous: null },
    1_700_000_000_999,
  )
  const standard = createHmac('sha256', key).update(`evt_1.1700000000.${body.toString()}`).digest('base64')
  expect(headers).toEqual({
    'content-type': 'application/json',
    'user-agent': 'Sluice-Webhooks/1',
    'x-service-event': 'usage_alert',
    'x-service-delivery': 'dlv_1',
    'x-service-timestamp': '1700000000',
    'x-service-signature': hex(secret),
    'webhook-id': 'evt_1',
    'webhook-timestamp': '1700000000',
    'webhook-signature': `v1,${standard}`,
  })
})

test('a known signature', () => {
  const headers = signDelivery(
    delivery,
    Buffer.from('{}'),
    { current: signingKeyOf('whsec_c2VjcmV0'), previous: null },
    0,
  )
  // printf '{}' | openssl dgst -sha256 -hmac whsec_c2VjcmV0
  expect(headers['x-service-signature']).toBe(
    'sha256=f2a9d48be51b03e17422a1499a4cdb7f8400afd0aa4cf50f34b9852d223553bb',
  )
})

test('during the overlap after a rotation both secrets sign', () => {
  const headers = signDelivery(
    delivery,
    body,
    { current: signingKeyOf(secret), previous: signingKeyOf('whsec_b2xk') },
    0,
  )
  expect(headers['x-service-signature']).toBe(hex(secret))
  expect(headers['x-service-signature-previous']).toBe(hex('whsec_b2xk'))
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
})

import { expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createSealer } from '#runtime/sealing.ts'
import { webhook, webhookDelivery } from '../testing/sample-records.ts'
import { createSendToDestination } from './send-to-destination.ts'

const unreachable = () => Promise.reject(new TypeError('a defect'))
const send = createSendToDestination({
  http: { post: unreachable, close: () => Promise.resolve() },
  sendMail: unreachable,
  sendSyslog: unreachable,
  sealer: createSealer([]),
  policy: { insecureHosts: new Set(['127.0.0.1']), ports: new Set([443]) },
  allowed: new Map(),
  version: '0',
  clock: systemClock,
  log: createLog('test', 'silent'),
})
const data = { fields: {}, json: () => '{}' }
const settings = { url: 'http://127.0.0.1/' }

test.each([
  ['a defect', { kind: 'json', settings }, 'the notifier failed on it'],
  ['settings of another kind', { kind: 'jira', settings }, 'not those of its kind'],
  ['a refused address', { kind: 'json', settings: { url: 'http://10.0.0.1/' } }, 'the address'],
] as const)('%s is a failed attempt, never a rejection', async (_name, given, expected) => {
  const result = await send(webhookDelivery(), webhook(given), data)
  expect(result).toMatchObject({ statusCode: null, timedOut: false })
  expect(result.error).toContain(expected)
})

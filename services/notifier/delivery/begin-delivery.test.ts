import { expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { ok } from '#runtime/outcome.ts'
import { createBeginDelivery, type BeginDependencies } from './begin-delivery.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createEndpointLimiter } from '../limits/endpoint-limiter.ts'
import { createNotifierMetrics } from '../notifier-metrics.ts'
import { decided } from './make-attempt.ts'
import { signingKeyOf } from '../steps/sign-delivery.ts'
import { deliveredAttempt, webhook, webhookDelivery } from '../testing/sample-records.ts'
import { attemptName, createUnwrittenAttempts } from './unwritten-attempts.ts'

const keys = { current: signingKeyOf('whsec_c2VjcmV0'), previous: null }
const message = { body: Buffer.from('{}'), isTest: false }
const endpoint = webhook()
const delivery = webhookDelivery({ webhook_id: endpoint.id })

/** Beginning where the store says `begin`; what was made, with the places that were taken then. */
function setOut(begin: () => Promise<boolean>, openSecrets: BeginDependencies['openSecrets'] = () => keys) {
  const limiter = createEndpointLimiter({ perEndpoint: 1, total: 8 })
  const unwritten = createUnwrittenAttempts(createNotifierMetrics(createMetrics()), systemClock)
  const made: number[] = []
  const written: string[] = []
  const start = createBeginDelivery({
    deliveries: { begin } as unknown as BeginDependencies['deliveries'],
    limiter,
    openSecrets,
    making: {
      make: () => Promise.reject(new Error('not made here')),
      failed: () => Promise.reject(new Error('not made here')),
    },
    unwritten,
    attempt: (sent) => {
      written.push(attemptName(sent))
      return Promise.resolve(decided(ok()))
    },
    carryOut: (_delivery, release) => {
      made.push(limiter.taken)
      release()
      return Promise.resolve(ok())
    },
    clock: systemClock,
  })
  return { start: () => start(delivery, endpoint, message), limiter, unwritten, made, written }
}

test('what was written is made in its place', async () => {
  const { start, limiter, made } = setOut(() => Promise.resolve(true))
  expect(await start()).toBe('nothing')
  expect({ made, taken: limiter.taken }).toEqual({ made: [1], taken: 0 })
})

test('what was there already, or has no place, is asked for by a record, and the place is given back', async () => {
  const { start, limiter, made } = setOut(() => Promise.resolve(false))
  expect(await start()).toBe('ask')
  expect({ made, taken: limiter.taken }).toEqual({ made: [], taken: 0 })
  limiter.holdBack(delivery)
  expect(await start()).toBe('ask')
  // Most of what slow endpoints are sent: a record would only be read to be set aside.
  limiter.note(endpoint.id, true)
  expect(await start()).toBe('wait')
})

test('a store that is away keeps no place', async () => {
  const { start, limiter, made } = setOut(() => Promise.reject(new TransientError('AWAY', 'away')))
  await expect(start()).rejects.toThrow('away')
  expect({ made, taken: limiter.taken }).toEqual({ made: [], taken: 0 })
})

test('a secret that cannot be opened is left to the record that asks for it; a mistake of ours is not', async () => {
  const begin = () => Promise.reject(new Error('nothing may be written'))
  const sealed = setOut(begin, () => {
    throw new PermanentError('CANNOT_OPEN', 'sealed')
  })
  expect(await sealed.start()).toBe('ask')
  expect(sealed.limiter.taken).toBe(0)
  const mistaken = setOut(begin, () => {
    throw new TypeError('ours')
  })
  await expect(mistaken.start()).rejects.toThrow(TypeError)
})

test('what was sent and is not written is written here, not asked for: another notifier would send it again', async () => {
  const { start, unwritten, written, limiter } = setOut(() => Promise.reject(new Error('nothing is begun')))
  unwritten.add(attemptName(delivery), deliveredAttempt)
  expect(await start()).toBe('nothing')
  expect({ written, taken: limiter.taken }).toEqual({ written: [attemptName(delivery)], taken: 0 })
})

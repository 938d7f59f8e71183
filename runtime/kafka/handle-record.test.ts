import { expect, test } from '@jest/globals'
import type { KafkaMessage } from 'kafkajs'
import type { Clock } from '../clock.ts'
import { PermanentError, TransientError } from '../errors.ts'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { ok } from '../outcome.ts'
import { createConsumerMetrics } from './consumer-metrics.ts'
import { createTroubles } from './consumer-state.ts'
import { MAX_TRIES } from './crash-marks.ts'
import { createRecordRunner } from './handle-record.ts'
import { defaultRetryPolicy } from './retry-policy.ts'

const message = { key: null, value: Buffer.from('v'), timestamp: '7', offset: '8' } as KafkaMessage
const raw = { topic: 't', partition: 1, offset: 8n, message }
const { signal } = new AbortController()
const atOnce: Clock = { now: () => 0, sleep: () => Promise.resolve() }

/**
 * Runs a record whose decoding, handling and dead-lettering fail with what stands first in each list, until
 * it is empty.
 */
async function run(fails: { decoding?: Error[]; handling?: Error[]; burying?: Error[] }, tries = 1) {
  const happened: string[] = []
  const step = (name: string, failures: Error[] = []) => {
    happened.push(name)
    const failure = failures.shift()
    return failure === undefined ? Promise.resolve() : Promise.reject(failure)
  }
  const metrics = createConsumerMetrics(createMetrics(), 'g')
  const log = createLog('test', 'silent')
  const troubles = createTroubles({ groupId: 'g', policy: defaultRetryPolicy, clock: atOnce, log, metrics })
  const runRecord = createRecordRunner<string>({
    decoder: { decode: (value) => step('decoded', fails.decoding).then(() => value.toString()) },
    handler: () => step('handled', fails.handling).then(() => ok()),
    sendDeadLetters: ([letter]) => step(`buried as ${letter?.error.code ?? ''}`, fails.burying),
    metrics,
    troubles,
    clock: atOnce,
  })
  const end = await runRecord({ raw, record: null, tries, signal, waiting: signal }).then(
    () => 'through',
    String,
  )
  return { end, happened, health: troubles.health('ok').status }
}
const away = () => new TransientError('AWAY', 'not now')

test.each([
  ['goes through', {}, ['decoded', 'handled']],
  ['is decoded again when the registry is away', { decoding: [away()] }, ['decoded', 'decoded', 'handled']],
  ['is handled again', { handling: [away()] }, ['decoded', 'handled', 'handled']],
  [
    'that can never be handled is buried, and again until that stands',
    { handling: [new PermanentError('BAD', 'no')], burying: [away(), away()] },
    ['decoded', 'handled', 'buried as BAD', 'buried as BAD', 'buried as BAD'],
  ],
])('a record %s', async (_name, fails, happened) => {
  expect(await run(fails)).toEqual({ end: 'through', happened, health: 'ok' })
})

test('one that has had its tries is buried untouched', async () => {
  const { happened } = await run({}, MAX_TRIES + 1)
  expect(happened).toEqual(['buried as CRASHED'])
  expect((await run({}, MAX_TRIES)).happened).toEqual(['decoded', 'handled'])
})

test('what is neither permanent nor passes by itself, and what cannot be buried, does not go through', async () => {
  expect((await run({ handling: [new Error('surprise')] })).end).toBe('Error: surprise')
  const burying = [new Error('surprise')]
  expect((await run({ decoding: [new PermanentError('BAD', 'no')], burying })).end).toBe('Error: surprise')
})

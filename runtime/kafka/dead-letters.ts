import type { Clock } from '../clock.ts'
import { PermanentError, type SluiceError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'
import { lastHeaders, type RawRecord } from './raw-record.ts'
import type { OutgoingRecord, Producer } from './records.ts'

/** Longest error message in a header. */
const maxMessageLength = 1_000

export interface DeadLetterContext {
  groupId: string
  /** When it was decided, in Unix milliseconds. */
  atMs: number
  keepValue: boolean
}

export interface DeadLetter {
  raw: RawRecord
  error: SluiceError
}

/**
 * The record for `<topic>.dlq`: its key, value and headers, with `sluice-dlq-*` headers for what happened and
 * where. A key that is not UTF-8 goes into `sluice-dlq-key-base64`.
 */
export function toDeadLetter({ raw, error }: DeadLetter, context: DeadLetterContext): OutgoingRecord {
  const { key, value, headers, timestamp } = raw.message
  const keyText = key?.toString('utf8') ?? ''
  const keyIsText = key === null || Buffer.from(keyText).equals(key)
  return {
    topic: `${raw.topic}.dlq`,
    key: keyText,
    value: context.keepValue ? value : null,
    headers: {
      ...lastHeaders(headers),
      'sluice-dlq-code': error.code,
      'sluice-dlq-message': error.message.slice(0, maxMessageLength),
      'sluice-dlq-topic': raw.topic,
      'sluice-dlq-partition': String(raw.partition),
      'sluice-dlq-offset': raw.offset.toString(),
      'sluice-dlq-timestamp': timestamp,
      'sluice-dlq-at': new Date(context.atMs).toISOString(),
      'sluice-dlq-group': context.groupId,
      ...(keyIsText ? {} : { 'sluice-dlq-key-base64': key.toString('base64') }),
      ...(context.keepValue || value === null ? {} : { 'sluice-dlq-value': 'omitted' }),
    },
  }
}

/**
 * A dead letter without value and headers, for one that the dead-letter topic does not take. It says what
 * happened and where; it cannot be redriven.
 */
function toRemains(letter: DeadLetter, context: DeadLetterContext): OutgoingRecord {
  const { topic, key, headers = {} } = toDeadLetter(letter, { ...context, keepValue: false })
  const ours = Object.entries(headers).filter(
    ([name]) => name.startsWith(headerPrefix) && name !== `${headerPrefix}key-base64`,
  )
  return {
    topic,
    key: String(key).slice(0, maxMessageLength),
    value: null,
    headers: Object.fromEntries(ours),
  }
}

const headerPrefix = 'sluice-dlq-'

/** The record as it was before `toDeadLetter`, for its first topic. */
export function fromDeadLetter({ message }: RawRecord, topic: string): OutgoingRecord {
  const headers = lastHeaders(message.headers)
  const binaryKey = headers[`${headerPrefix}key-base64`]
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith(headerPrefix))
  return {
    topic,
    key:
      binaryKey === undefined
        ? (message.key?.toString('utf8') ?? '')
        : Buffer.from(String(binaryKey), 'base64'),
    value: message.value,
    headers: Object.fromEntries(kept),
  }
}

export interface DeadLetterOptions {
  producer: Producer
  groupId: string
  clock: Clock
  log: Log
  metrics: ConsumerMetrics
  /** Topics whose content must not be kept: their dead letters have no value. */
  omitValue: (topic: string) => boolean
}

/** Resolves once the topics have acknowledged the dead letters; only then may the offset move. */
export type SendDeadLetters = (letters: readonly DeadLetter[]) => Promise<void>

export function createDeadLetters(options: DeadLetterOptions): SendDeadLetters {
  const { producer, groupId, clock, log, metrics, omitValue } = options
  const sendOne = async (letter: DeadLetter) => {
    const context = { groupId, atMs: clock.now(), keepValue: !omitValue(letter.raw.topic) }
    try {
      await producer.send([toDeadLetter(letter, context)])
    } catch (error) {
      // With these headers a record can exceed the limit that it met in its own topic. Send at least what
      // happened.
      if (!(error instanceof PermanentError)) throw error
      await producer.send([toRemains(letter, context)])
      log.error({ err: error, ...placeOf(letter) }, 'dead letter sent without its value')
    }
    metrics.deadLettered(letter.raw.topic, letter.error)
    log.warn({ code: letter.error.code, ...placeOf(letter) }, 'record dead-lettered')
  }
  return async (letters) => {
    await Promise.all(letters.map(sendOne))
  }
}

/** Our keys are identifiers. Any other key may hold content and stays out of the log. */
const identifier = /^[\w-]{1,64}$/

/** Where the record stands, with its key: on most topics the request's id. */
function placeOf({ raw }: DeadLetter): Record<string, unknown> {
  const key = raw.message.key?.toString('utf8') ?? ''
  return {
    topic: raw.topic,
    partition: raw.partition,
    offset: raw.offset.toString(),
    ...(identifier.test(key) ? { key } : {}),
  }
}

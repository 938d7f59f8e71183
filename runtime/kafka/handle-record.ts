import type { Clock } from '../clock.ts'
import { PermanentError } from '../errors.ts'
import { deadLetter, type Outcome } from '../outcome.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'
import type { Troubles } from './consumer-state.ts'
import { MAX_TRIES } from './crash-marks.ts'
import type { SendDeadLetters } from './dead-letters.ts'
import { asPermanent, isPermanent } from './handle-chunk.ts'
import { decodeRecord, type DecoderChoice, type RawRecord } from './raw-record.ts'
import type { ConsumedRecord, RecordHandler } from './records.ts'
import { retryTransient, type RetryContext } from './retry-policy.ts'

export interface RecordToRun<T> {
  raw: RawRecord
  /** The decoded record, or null. */
  record: ConsumedRecord<T> | null
  /** The number of this try. Above MAX_TRIES the record is dead-lettered instead. */
  tries: number
  /** Given to the handler. */
  signal: AbortSignal
  /** Ends the wait for another attempt. */
  waiting: AbortSignal
}

/**
 * Resolves when the offset may move. Throws errors that are neither permanent nor curable by a retry, and
 * Interrupted.
 */
export type RunRecord<T> = (record: RecordToRun<T>) => Promise<void>

export function createRecordRunner<T>(dependencies: {
  decoder: DecoderChoice<T>
  handler: RecordHandler<T>
  sendDeadLetters: SendDeadLetters
  metrics: ConsumerMetrics
  troubles: Troubles
  clock: Clock
}): RunRecord<T> {
  const { decoder, handler, sendDeadLetters, metrics, troubles, clock } = dependencies

  const decide = async (
    { raw, record, tries, signal }: RecordToRun<T>,
    retry: RetryContext,
  ): Promise<Outcome> => {
    if (tries > MAX_TRIES) return deadLetter(crashed())
    try {
      const decoded = record ?? (await retryTransient(() => decodeRecord(raw, decoder), retry))
      return await retryTransient(() => handler(decoded, signal), retry)
    } catch (error) {
      if (isPermanent(error)) return deadLetter(asPermanent(error))
      throw error
    }
  }
  return async (toRun) => {
    const { raw, waiting } = toRun
    const retry = troubles.context(raw, raw.topic, waiting)
    const startedMs = clock.now()
    try {
      const outcome = await decide(toRun, retry)
      metrics.handlerSeconds(raw.topic, (clock.now() - startedMs) / 1_000)
      if (outcome.kind !== 'dead_letter') metrics.handled(raw.topic, outcome)
      else await retryTransient(() => sendDeadLetters([{ raw, error: outcome.error }]), retry)
    } finally {
      troubles.over(raw)
    }
  }
}

/** The error of a record that was begun MAX_TRIES times and never ended. */
export function crashed(): PermanentError {
  return new PermanentError('CRASHED', `the process ended ${MAX_TRIES} times while it worked on this record`)
}

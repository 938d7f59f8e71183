import { PermanentError, SluiceError } from '../errors.ts'
import { deadLetter, type Outcome } from '../outcome.ts'
import type { ConsumerMetrics } from './consumer-metrics.ts'
import type { DeadLetter, SendDeadLetters } from './dead-letters.ts'
import { decodeRecord, type DecoderChoice, type RawRecord } from './raw-record.ts'
import type { BatchHandler, ConsumedRecord, Position } from './records.ts'
import { retryTransient, type RetryContext } from './retry-policy.ts'

export interface ChunkDependencies<T> {
  decoder: DecoderChoice<T>
  handler: BatchHandler<T>
  sendDeadLetters: SendDeadLetters
  metrics: ConsumerMetrics
}

/**
 * Decodes, calls the handler, and dead-letters what cannot be handled. Once it resolves, the offset may move.
 * Throws errors that are neither permanent nor curable by a retry, and Interrupted.
 */
export async function handleChunk<T>(
  raws: readonly RawRecord[],
  position: Position,
  retry: RetryContext,
  dependencies: ChunkDependencies<T>,
): Promise<void> {
  const { metrics, sendDeadLetters } = dependencies
  const { readable, letters } = await decodeAll(raws, retry, dependencies.decoder)
  const records = readable.map(({ record }) => record)
  metrics.batchRecords(position.topic, records.length)
  const outcomes = await decide(records, position, retry, dependencies)
  for (const [index, { raw }] of readable.entries()) {
    const outcome = outcomes[index]
    if (outcome?.kind === 'dead_letter') letters.push({ raw, error: outcome.error })
  }
  // Retried here without limit: postponing would repeat the handler's work, and a scorer would pay for it
  // each time.
  await retryTransient(() => sendDeadLetters(letters), { ...retry, patienceMs: Infinity })
  for (const outcome of outcomes) if (outcome.kind !== 'dead_letter') metrics.handled(position.topic, outcome)
}

async function decodeAll<T>(raws: readonly RawRecord[], retry: RetryContext, decoder: DecoderChoice<T>) {
  const readable: { raw: RawRecord; record: ConsumedRecord<T> }[] = []
  const letters: DeadLetter[] = []
  for (const raw of raws) {
    try {
      readable.push({ raw, record: await retryTransient(() => decodeRecord(raw, decoder), retry) })
    } catch (error) {
      if (!isPermanent(error)) throw error
      letters.push({ raw, error })
    }
  }
  return { readable, letters }
}

/**
 * One outcome per record. A permanent error of the whole is narrowed to its record by halving; its neighbours
 * go on.
 */
async function decide<T>(
  records: readonly ConsumedRecord<T>[],
  position: Position,
  retry: RetryContext,
  dependencies: ChunkDependencies<T>,
): Promise<readonly Outcome[]> {
  if (records.length === 0) return []
  try {
    const outcomes = await retryTransient(
      () => dependencies.handler({ records, position }, retry.signal),
      retry,
    )
    if (outcomes.length === records.length) return outcomes
    throw new Error(`the handler gave ${outcomes.length} outcomes for ${records.length} records`)
  } catch (error) {
    if (!isPermanent(error)) throw error
    if (records.length === 1) return [deadLetter(asPermanent(error))]
  }
  const middle = Math.ceil(records.length / 2)
  const behind = records.slice(middle)
  const between = { ...position, nextOffset: behind[0]?.offset ?? position.nextOffset }
  const first = await decide(records.slice(0, middle), between, retry, dependencies)
  return [...first, ...(await decide(behind, position, retry, dependencies))]
}

/** Whether another try would fail the same way. */
export function isPermanent(error: unknown): error is SluiceError {
  return error instanceof SluiceError && error.retry === 'never'
}

export function asPermanent(error: SluiceError): PermanentError {
  return error instanceof PermanentError
    ? error
    : new PermanentError(error.code, error.message, { cause: error })
}

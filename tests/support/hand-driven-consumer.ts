import { jest } from '@jest/globals'
import { createBatchConsumer, type BatchConsumerOptions } from '#runtime/kafka/batch-consumer.ts'
import { createParallelConsumer, type ParallelConsumerOptions } from '#runtime/kafka/parallel-consumer.ts'
import type { OutgoingRecord, Producer } from '#runtime/kafka/records.ts'
import { ok } from '#runtime/outcome.ts'
import type { Service } from '#runtime/service.ts'
import { createHandDrivenGroup, hasty, turns } from './hand-driven-group.ts'

/** Interval of commits. */
const commitMs = 200
/** How long a stop waits for handlers. */
export const drainMs = 15_000

/** By partition: committed offset and metadata. */
type Committed = Record<number, [offset: string, metadata: string]>

/** Options of every consumer. */
const member = {
  groupId: 'g',
  topics: ['t'],
  clock: hasty,
  decoder: { decode: (value: Buffer) => Promise.resolve(value.toString()) },
}

function createGroup(committed: Committed) {
  const group = createHandDrivenGroup({ 0: { low: 0, high: 100 }, 1: { low: 0, high: 100 } })
  for (const [partition, [offset, metadata]] of Object.entries(committed))
    group.committed.set(Number(partition), { offset, metadata })
  return group
}

function keepLetters(keep: (sent: readonly OutgoingRecord[]) => void): Producer {
  return {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    send: (sent) => {
      keep(sent)
      return Promise.resolve()
    },
  }
}

/** Resolves when both partitions are assigned. The result tells why the consumer ended by itself. */
async function startAssigned(
  consumer: Service,
  group: ReturnType<typeof createGroup>,
): Promise<() => unknown> {
  let failure: unknown
  consumer.done.catch((error: unknown) => (failure = error))
  const starting = consumer.start()
  await turns()
  await group.assign(0, 1)
  await starting
  return () => failure
}

/**
 * A parallel consumer with partitions 0 and 1 assigned. Handlers run until the test ends them: `end('0/7')`.
 */
export async function consumeRecordsByHand(
  options: Partial<ParallelConsumerOptions<string>> = {},
  committed: Committed = {},
) {
  const group = createGroup(committed)
  const running = new Map<string, { signal: AbortSignal; end: (error?: Error) => void }>()
  const begun: string[] = []
  const letters: string[] = []
  const consumer = createParallelConsumer<string>({
    ...group,
    ...member,
    concurrency: 8,
    window: 4,
    handler: async ({ partition, offset }, signal) => {
      const name = `${partition}/${offset}`
      begun.push(name)
      const ended = Promise.withResolvers<undefined>()
      running.set(name, { signal, end: (error) => (error ? ended.reject(error) : ended.resolve(undefined)) })
      await ended.promise
      return ok()
    },
    producer: keepLetters((sent) => letters.push(...sent.map(({ value }) => String(value)))),
    ...options,
  })
  const failure = await startAssigned(consumer, group)
  return {
    ...group,
    consumer,
    begun,
    letters,
    failure,
    signalOf: (name: string) => running.get(name)?.signal,
    end: async (name: string, error?: Error) => {
      running.get(name)?.end(error)
      await turns()
    },
    /** Lets one commit interval pass. */
    tick: async () => {
      jest.advanceTimersByTime(commitMs)
      await turns()
    },
    deliver: async (partition: number, from: number, until: number) => {
      const thrown = await group.deliver(partition, from, until)
      await turns()
      return thrown
    },
  }
}

export interface BatchSetting {
  options?: Partial<BatchConsumerOptions<string>>
  committed?: Committed
  /** Called with the offsets of each chunk, as `0/2,3`. */
  handle?: (chunk: string) => Promise<unknown> | undefined
}

/** A batch consumer with partitions 0 and 1 assigned. Chunks have two records. */
export async function consumeBatchesByHand({ options, committed = {}, handle }: BatchSetting = {}) {
  const group = createGroup(committed)
  const handled: string[] = []
  const positions: number[] = []
  const letters: OutgoingRecord[] = []
  const consumer = createBatchConsumer<string>({
    ...group,
    ...member,
    maxBatchRecords: 2,
    partitionsConcurrently: 2,
    handler: async ({ records, position }) => {
      const chunk = `${position.partition}/${records.map(({ value }) => value).join()}`
      handled.push(chunk)
      positions.push(Number(position.nextOffset))
      await handle?.(chunk)
      return records.map(() => ok())
    },
    producer: keepLetters((sent) => letters.push(...sent)),
    ...options,
  })
  const failure = await startAssigned(consumer, group)
  const skipped = async () =>
    (await group.metrics.registry.getSingleMetric('sluice_kafka_skipped_records_total')?.get())?.values.map(
      ({ value }) => value,
    )
  return { ...group, consumer, handled, positions, letters, failure, skipped }
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { jest } from '@jest/globals'
import kafkajs, {
  type ConsumerRunConfig,
  type EachBatchPayload,
  type Kafka,
  type PartitionAssigner,
} from 'kafkajs'
import { systemClock, type Clock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'

const topic = 't'
type Listener = (event: { payload: Record<string, unknown> }) => void

/** Retries take no time; longer waits end when the test advances time. */
export const hasty: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => (ms <= 12_800 ? nextTurn() : systemClock.sleep(ms, signal)),
}

/** Runs everything that is due without time passing. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn()
}

/** For `beforeEach`: time passes only when the test says so. */
export function holdTime(): void {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
}

/**
 * A kafkajs client of one topic whose group assigns partitions and whose cluster answers when the test says
 * so: for interleavings that a real cluster (consumers.integration.test.ts) shows once in a thousand runs.
 * Values of records are their offsets.
 */
export function createHandDrivenGroup(ends: Record<number, { low: number; high: number }>) {
  const listeners = new Map<string, Listener>()
  const committed = new Map<number, { offset: string; metadata: string }>()
  const state = { isRunning: true, isStale: false, hasLeft: false }
  const commits: string[] = []
  const sought: string[] = []
  const paused = new Set<number>()
  /** Errors of the next commits and heartbeats, and what commits and offset requests wait for. */
  const script = { commitErrors: [] as Error[], heartbeatError: null as Error | null }
  const gates: { commit?: Promise<unknown> | undefined; offsets?: Promise<unknown> | undefined } = {}
  let eachBatch: ConsumerRunConfig['eachBatch']
  let metadata: Buffer = Buffer.alloc(0)

  const commit: EachBatchPayload['commitOffsetsIfNecessary'] = async (offsets) => {
    await gates.commit
    const failure = script.commitErrors.shift()
    if (failure) throw failure
    for (const each of offsets?.topics.flatMap(({ partitions }) => partitions) ?? []) {
      const { partition, offset, metadata: mark = '' } = each as typeof each & { metadata?: string }
      committed.set(partition, { offset, metadata: mark })
      const until = /until=(\d+)$/.exec(mark)?.[1]
      commits.push(`${partition}@${offset}${until === undefined ? '' : ` until ${until}`}`)
    }
  }
  const each = (partitions: number[] | undefined) => partitions ?? Object.keys(ends).map(Number)
  const consumer = {
    events: { GROUP_JOIN: 'join', REBALANCING: 'rebalancing', CRASH: 'crash', FETCH: 'fetch' },
    on: (event: string, listener: Listener) => void listeners.set(event, listener),
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(void (state.hasLeft = true)),
    subscribe: () => Promise.resolve(),
    run: (config: ConsumerRunConfig) => Promise.resolve(void (eachBatch = config.eachBatch)),
    pause: ([what]: { partitions?: number[] }[]) => each(what?.partitions).forEach((one) => paused.add(one)),
    resume: ([what]: { partitions?: number[] }[]) =>
      each(what?.partitions).forEach((one) => paused.delete(one)),
    seek: ({ partition, offset }: { partition: number; offset: string }) =>
      void sought.push(`${partition}@${offset}`),
  }
  const admin = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    describeCluster: () => Promise.resolve({ clusterId: 'c' }),
    listTopics: () => Promise.resolve([topic]),
    fetchTopicOffsets: () =>
      Promise.resolve(
        Object.entries(ends).map(([partition, { low, high }]) => ({
          partition: Number(partition),
          low: String(low),
          high: String(high),
        })),
      ),
    fetchOffsets: async () => {
      const partitions = [...committed].map(([partition, { offset, metadata: mark }]) => ({
        partition,
        offset,
        metadata: mark,
      }))
      await gates.offsets
      return [{ topic, partitions }]
    },
    describeGroups: () =>
      Promise.resolve({ groups: [{ state: 'Stable', members: [{ memberMetadata: metadata }] }] }),
  }
  const client = {
    admin: () => admin,
    consumer: ({ partitionAssigners: [assigner] }: { partitionAssigners: PartitionAssigner[] }) => {
      metadata = assigner?.({} as never).protocol({ topics: [topic] }).metadata ?? metadata
      return consumer
    },
  }
  const emit = async (event: string, payload: Record<string, unknown> = {}) => {
    listeners.get(event)?.({ payload })
    await turns()
  }
  return {
    kafka: client as unknown as Kafka,
    log: createLog('test', 'silent'),
    metrics: createMetrics(),
    ends,
    committed,
    commits,
    sought,
    paused,
    script,
    gates,
    state,
    assign: (...partitions: number[]) => emit('join', { memberAssignment: { [topic]: partitions } }),
    announceRebalance: () => emit('rebalancing'),
    /** A fetch has ended, with or without records. */
    fetched: () => emit('fetch'),
    /** kafkajs gives up. */
    crash: (error: Error) => emit('crash', { error, restart: false }),
    /** Delivers a batch. Resolves when the consumer has handled it: to what it threw, or undefined. */
    deliver: async (partition: number, from: number, until: number): Promise<unknown> => {
      const messages = Array.from({ length: until - from }, (_, index) => ({
        offset: String(from + index),
        key: null,
        value: Buffer.from(String(from + index)),
        timestamp: '0',
      }))
      const batch = {
        topic,
        partition,
        messages,
        highWatermark: String(ends[partition]?.high ?? until),
        lastOffset: () => String(until - 1),
      }
      const payload = {
        batch,
        resolveOffset: () => undefined,
        heartbeat: () =>
          script.heartbeatError === null ? Promise.resolve() : Promise.reject(script.heartbeatError),
        commitOffsetsIfNecessary: commit,
        isRunning: () => state.isRunning,
        isStale: () => state.isStale,
      }
      return eachBatch?.(payload as unknown as EachBatchPayload).then(
        () => undefined,
        (error: unknown) => error,
      )
    },
  }
}

/** A coordinator's refusal of a member of an older generation. */
export function rebalanceError(): Error {
  return Object.assign(new kafkajs.KafkaJSError('the group is rebalancing'), {
    type: 'REBALANCE_IN_PROGRESS',
  })
}

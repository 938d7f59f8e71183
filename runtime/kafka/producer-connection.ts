import kafkajs, { type Kafka, type RecordMetadata } from 'kafkajs'
import type { Log } from '../log.ts'
import type { Group } from './gather-batch.ts'

/**
 * One idempotent producer id. On a failed request kafkajs reverts a partition's sequence numbers, although
 * the broker may have written the records. The broker would then acknowledge other records under these
 * numbers as duplicates and never write them. So after its first failure a connection sends only the same
 * records of a partition, and is then closed.
 */
export interface ProducerConnection {
  /**
   * Resolves to what the cluster acknowledged, which may not be all; see `acknowledged`. kafkajs retries for
   * about 10 s. One send at a time.
   */
  send(batch: readonly Group[]): Promise<Acknowledgement>
  /** Fails requests under way at their next retry, then disconnects. Never rejects. */
  close(): Promise<void>
}

interface Acknowledgement {
  /** The groups that the acknowledgement names without an error. */
  acknowledged: Group[]
  /** Whether kafkajs needed more than one attempt. */
  retried: boolean
}

/** Enough for the cluster to notice a lost broker and elect leaders (9 s by default). */
const retry = { initialRetryTime: 100, multiplier: 2, factor: 0.2, maxRetryTime: 1_000, retries: 12 }

export type Compression = 'zstd' | 'gzip' | 'none'
const { ZSTD, GZIP, None } = kafkajs.CompressionTypes
const typeOf = { zstd: ZSTD, gzip: GZIP, none: None }

/** Connects at the first `send`. */
export function openProducerConnection(
  kafka: Kafka,
  log: Log,
  compression: Compression = 'zstd',
): ProducerConnection {
  let closed = false
  let placed = 0
  let underWay: Promise<unknown> = Promise.resolve()
  const producer = kafka.producer({
    idempotent: true,
    allowAutoTopicCreation: false,
    retry,
    // Called for each record of each attempt: the only place that can stop kafkajs's retries.
    createPartitioner: () => (args) => {
      if (closed) throw new TypeError('the connection is closed')
      placed++
      return args.message.partition ?? 0
    },
  })
  let connected: Promise<void> | undefined
  const send = async (batch: readonly Group[]): Promise<Acknowledgement> => {
    connected ??= producer.connect()
    await connected
    placed = 0
    const answer = await producer.sendBatch({
      acks: -1,
      compression: typeOf[compression],
      topicMessages: batch.map(({ topic, partition, records }) => ({
        topic,
        messages: records.map(({ message }) => ({ ...message, partition })),
      })),
    })
    const records = batch.reduce((sum, group) => sum + group.records.length, 0)
    return { acknowledged: acknowledged(batch, answer), retried: placed > records }
  }
  return {
    send: (batch) => {
      const sending = send(batch)
      underWay = sending.catch(() => undefined)
      return sending
    },
    close: async () => {
      closed = true
      await underWay
      await producer
        .disconnect()
        .catch((error: unknown) => log.warn({ err: error }, 'closing a Kafka connection failed'))
    },
  }
}

/**
 * kafkajs resolves although some partitions were never sent (tulios/kafkajs#1303): after a broker dies, a
 * retry skips brokers that have answered, which now lead the dead one's partitions. Only what the answer
 * names is written.
 */
function acknowledged(batch: readonly Group[], answer: readonly (RecordMetadata | null)[]): Group[] {
  const written = new Set<string>()
  for (const row of answer) {
    if (row?.errorCode === 0) written.add(partitionId(row.topicName, row.partition))
  }
  return batch.filter(({ topic, partition }) => written.has(partitionId(topic, partition)))
}

function partitionId(topic: string, partition: number): string {
  return `${topic}/${partition}`
}

import kafkajs, { type Kafka, type RecordMetadata } from 'kafkajs'
import type { Log } from '../log.ts'
import type { Group } from './gather-batch.ts'

/**
 * One idempotent producer id. kafkajs takes a partition's sequence numbers back when a request fails, although the broker may have
 * written it; other records under the same numbers would then be acknowledged as duplicates and never be written. So from the first
 * failure on only the very same records of a partition may follow on this connection, and then it is closed.
 */
export interface ProducerConnection {
  /**
   * Resolves to what the cluster acknowledged: not always all, see `acknowledged`. Its retries are kafkajs's, about 10 s.
   * One at a time.
   */
  send(batch: readonly Group[]): Promise<Acknowledgement>
  /** Lets what is under way fail at its next try, then disconnects. Never rejects. */
  close(): Promise<void>
}

interface Acknowledgement {
  /** Those of the batch that the acknowledgement names without an error. */
  acknowledged: Group[]
  /** Whether kafkajs had to try more than once. */
  retried: boolean
}

/** Long enough for a broker's loss to be noticed and its partitions to get leaders (9 s by default). */
const retry = { initialRetryTime: 100, multiplier: 2, factor: 0.2, maxRetryTime: 1_000, retries: 12 }

/** Connects at the first `send`. */
export function openProducerConnection(kafka: Kafka, log: Log): ProducerConnection {
  let closed = false
  let placed = 0
  let underWay: Promise<unknown> = Promise.resolve()
  const producer = kafka.producer({
    idempotent: true,
    allowAutoTopicCreation: false,
    retry,
    // Called for each record at each try: the only place where kafkajs can be stopped from trying again.
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
      compression: kafkajs.CompressionTypes.ZSTD,
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
        .catch((error: unknown) => log.warn({ err: error }, 'a connection to Kafka did not close'))
    },
  }
}

/**
 * kafkajs resolves although partitions were never sent (tulios/kafkajs#1303): when a broker dies, a retry skips the brokers that have
 * answered already, and these now lead the dead one's partitions. Only what the answer names is written.
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

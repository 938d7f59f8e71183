import kafkajs, { type Admin, type Consumer } from 'kafkajs'
import type { Clock } from '../clock.ts'
import { messageOf, TransientError } from '../errors.ts'
import type { Log } from '../log.ts'
import { networkCodes } from '../network-codes.ts'
import { explainFailure } from './explain-failure.ts'
import { isCoordinatorComing, isSilentBroker, isWithoutCoordinator } from './group-errors.ts'
import { assertTopics } from './missing-topic.ts'

interface ReachingOptions {
  admin: Admin
  consumer: Pick<Consumer, 'connect' | 'subscribe' | 'disconnect'>
  groupId: string
  topics: readonly string[]
  clock: Clock
  log: Log
  /** Why it waits; undefined once it does not. */
  onWaiting: (reason: string | undefined) => void
  stopping: AbortSignal
}

const pauseMs = 2_000
/** What a stop waits for an attempt that is under way: mostly it is over in a moment, and with the cluster away kafkajs takes up to half a minute. */
const graceMs = 2_000

/**
 * Connects both and subscribes, and resolves to the cluster's id; to undefined when the member stops. A cluster that is away when a process starts, and a topic that
 * is not there, are waited for as long as it takes: nothing is begun yet that another could do, and whoever starts ended processes again waits longer
 * from time to time. What waiting does not mend (a password, a right, a certificate) is thrown at once.
 */
export async function reachCluster(options: ReachingOptions): Promise<string | undefined> {
  const { groupId: group, clock, log, onWaiting, stopping } = options
  try {
    while (!stopping.aborted) {
      try {
        return await connectUntilStopped(options)
      } catch (error) {
        if (!isWaitedFor(error)) throw error
        const reason = reasonOf(error)
        onWaiting(reason)
        log.warn({ group, reason }, 'Kafka cannot be read; the consumer waits for it')
        await clock.sleep(pauseMs, stopping)
      }
    }
    return undefined
  } finally {
    onWaiting(undefined)
  }
}

async function connectUntilStopped(options: ReachingOptions): Promise<string | undefined> {
  const { admin, consumer, groupId: group, clock, log, stopping } = options
  const over = new AbortController()
  const overdue = Promise.withResolvers<'overdue'>()
  const giveUp = () => void clock.sleep(graceMs, over.signal).then(() => overdue.resolve('overdue'))
  stopping.addEventListener('abort', giveUp, { signal: over.signal })
  const connecting = connect(options)
  try {
    const clusterId = await Promise.race([connecting, overdue.promise])
    if (clusterId !== 'overdue') return stopping.aborted ? undefined : clusterId
    // kafkajs cannot be kept from trying: what it opens behind our back is closed then.
    connecting
      .catch(() => undefined)
      .then(() => Promise.all([consumer.disconnect(), admin.disconnect()]))
      .catch((error: unknown) => log.warn({ err: error, group }, 'not left in order'))
    return undefined
  } finally {
    over.abort()
  }
}

async function connect({ admin, consumer, groupId, topics }: ReachingOptions): Promise<string> {
  await admin.connect()
  const { clusterId } = await admin.describeCluster()
  // Asked before kafkajs is, which ends the consumer without saying which of its topics it is.
  await assertTopics(admin, topics)
  // And a cluster's first group: until the topic that remembers groups is made kafkajs finds no coordinator, and ends the consumer for good.
  await admin.describeGroups([groupId])
  await consumer.connect()
  await consumer.subscribe({ topics: [...topics], fromBeginning: true })
  return clusterId
}

/** kafkajs keeps to itself what the brokers said of the coordinator; its own warning beside this one has it. */
function reasonOf(error: unknown): string {
  return isWithoutCoordinator(error)
    ? `${messageOf(error)}: the cluster makes its first, or this user may not read the group`
    : explainFailure(error)
}

export function isWaitedFor(error: unknown): boolean {
  const isMissingTopic = error instanceof TransientError && error.code === 'KAFKA_TOPIC_MISSING'
  return isMissingTopic || isUnreachable(error) || isCoordinatorComing(error)
}

/** No broker answers: not that one refuses, or is not whom we trust. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof kafkajs.KafkaJSConnectionError) return isOfNetwork(error)
  return (
    error instanceof kafkajs.KafkaJSRequestTimeoutError || isSilentBroker(error) || isUnreachable(error.cause)
  )
}

/** Without a code: a time limit, or a connection that was closed. */
function isOfNetwork(error: kafkajs.KafkaJSConnectionError & { code?: string }): boolean {
  return error.code === undefined || networkCodes.has(error.code)
}

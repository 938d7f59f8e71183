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
/**
 * How long a stop waits for an attempt under way. Most end at once; with the cluster away kafkajs takes up to
 * 30 s.
 */
const graceMs = 2_000

/**
 * Connects both, subscribes, and resolves to the cluster's id; to undefined when the member stops. Waits
 * without limit for an absent cluster or topic: no work has begun, and a restart would only wait longer.
 * Throws at once what waiting cannot mend: a password, a right, a certificate.
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
        log.warn({ group, reason }, 'Kafka is unreachable; the consumer waits')
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
    // kafkajs's connection attempt cannot be stopped, so what it opens is closed.
    connecting
      .catch(() => undefined)
      .then(() => Promise.all([consumer.disconnect(), admin.disconnect()]))
      .catch((error: unknown) => log.warn({ err: error, group }, 'leaving the group failed'))
    return undefined
  } finally {
    over.abort()
  }
}

async function connect({ admin, consumer, groupId, topics }: ReachingOptions): Promise<string> {
  await admin.connect()
  const { clusterId } = await admin.describeCluster()
  // Checked first, because kafkajs ends the consumer without naming the missing topic.
  await assertTopics(admin, topics)
  // The first group of a cluster: until the topic of group offsets exists, kafkajs finds no coordinator and
  // ends the consumer for good.
  await admin.describeGroups([groupId])
  await consumer.connect()
  await consumer.subscribe({ topics: [...topics], fromBeginning: true })
  return clusterId
}

/** kafkajs hides what brokers said about the coordinator; its own warning in the log has it. */
function reasonOf(error: unknown): string {
  return isWithoutCoordinator(error)
    ? `${messageOf(error)}: the cluster makes its first, or this user may not read the group`
    : explainFailure(error)
}

export function isWaitedFor(error: unknown): boolean {
  const isMissingTopic = error instanceof TransientError && error.code === 'KAFKA_TOPIC_MISSING'
  return isMissingTopic || isUnreachable(error) || isCoordinatorComing(error)
}

/** No broker answers: not a refusal, and not an untrusted certificate. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof kafkajs.KafkaJSConnectionError) return isOfNetwork(error)
  return (
    error instanceof kafkajs.KafkaJSRequestTimeoutError || isSilentBroker(error) || isUnreachable(error.cause)
  )
}

/** Without a code: a timeout, or a closed connection. */
function isOfNetwork(error: kafkajs.KafkaJSConnectionError & { code?: string }): boolean {
  return error.code === undefined || networkCodes.has(error.code)
}

import kafkajs from 'kafkajs'
import { messageOf, TransientError } from '../errors.ts'
import { typeOfError } from './protocol-errors.ts'

/** The group has rebalanced without us: another member has what we would commit, or will get it. */
const rejoinTypes = [
  'REBALANCE_IN_PROGRESS',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'NOT_COORDINATOR_FOR_GROUP',
]

/**
 * Errors of heartbeats and commits that a rebalance explains. A batch that ends with one makes kafkajs join
 * again.
 */
export function isRebalance(error: unknown): error is Error {
  return error instanceof Error && 'type' in error && rejoinTypes.includes(String(error.type))
}

const coordinatorTypes = [
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]

/**
 * A new coordinator refuses members until it has read its log, which kafkajs takes for a crash. A new cluster
 * has no coordinator until the topic of group offsets exists.
 */
export function isCoordinatorComing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    isWithoutCoordinator(error) ||
    coordinatorTypes.includes(typeOfError(error) ?? '') ||
    isCoordinatorComing(error.cause)
  )
}

export function isWithoutCoordinator(error: unknown): boolean {
  return error instanceof Error && error.name === 'KafkaJSGroupCoordinatorNotFound'
}

/** Thrown out of a batch, makes kafkajs find the coordinator and join again. */
export function rejoinNeeded(reason: string): Error {
  return Object.assign(new kafkajs.KafkaJSError(reason, { retriable: true }), {
    type: 'REBALANCE_IN_PROGRESS',
  })
}

/** The partition was reassigned after this work began. Drop the work. */
export class AssignmentLost extends Error {
  constructor(topic: string, partition: number) {
    super(`${topic} partition ${partition} was reassigned`)
    this.name = 'AssignmentLost'
  }
}

/** Errors of kafkajs's connections and requests: the cluster is away; the work is not at fault. */
export function isKafkaTrouble(error: unknown): error is Error {
  return error instanceof kafkajs.KafkaJSError || (error instanceof Error && isSilentBroker(error))
}

/** kafkajs reports a broker that accepts connections and never answers by a plain Error. */
export function isSilentBroker(error: Error): boolean {
  return error.message === 'Broker not connected'
}

/** kafkajs has given up on the cluster. The process ends, and its supervisor restarts it. */
export function kafkaLost(error: unknown): TransientError {
  // The broker names only its own setting, which our operator does not know.
  const whose = typeOfError(error) === 'INVALID_SESSION_TIMEOUT' ? 'KAFKA_SESSION_TIMEOUT_MS: ' : ''
  return new TransientError('KAFKA_CONSUMER_CRASHED', whose + messageOf(error), { cause: error })
}

import kafkajs from 'kafkajs'
import { messageOf, TransientError } from '../errors.ts'
import { typeOfError } from './protocol-errors.ts'

/** The group has moved on without us: what we would commit is somebody else's now, or will be dealt again. */
const rejoinTypes = [
  'REBALANCE_IN_PROGRESS',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'NOT_COORDINATOR_FOR_GROUP',
]

/** Errors of heartbeats and commits that a rebalance explains. kafkajs joins the group again when a batch ends with one. */
export function isRebalance(error: unknown): error is Error {
  return error instanceof Error && 'type' in error && rejoinTypes.includes(String(error.type))
}

const coordinatorTypes = [
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]

/**
 * A coordinator that has just come up refuses members until it has read its log; kafkajs takes that for a crash. A new cluster has none until the topic
 * that remembers groups is made.
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

/** Makes kafkajs look for the group's coordinator and join again, when it is thrown out of a batch. */
export function rejoinNeeded(reason: string): Error {
  return Object.assign(new kafkajs.KafkaJSError(reason, { retriable: true }), {
    type: 'REBALANCE_IN_PROGRESS',
  })
}

/** The partition was dealt anew after this work began. There is nothing to do for it any more. */
export class AssignmentLost extends Error {
  constructor(topic: string, partition: number) {
    super(`${topic} partition ${partition} was dealt anew`)
    this.name = 'AssignmentLost'
  }
}

/** Errors of kafkajs's connections and requests: the cluster is away, not the work wrong. */
export function isKafkaTrouble(error: unknown): error is Error {
  return error instanceof kafkajs.KafkaJSError || (error instanceof Error && isSilentBroker(error))
}

/** A broker that takes connections and answers nothing (its process stands still, its host hangs) is told of by an Error of no kind. */
export function isSilentBroker(error: Error): boolean {
  return error.message === 'Broker not connected'
}

/** kafkajs has given up on the cluster: the process ends, and its supervisor starts it again. */
export function kafkaLost(error: unknown): TransientError {
  // The broker names its own settings only, which whoever set ours does not know.
  const whose = typeOfError(error) === 'INVALID_SESSION_TIMEOUT' ? 'KAFKA_SESSION_TIMEOUT_MS: ' : ''
  return new TransientError('KAFKA_CONSUMER_CRASHED', whose + messageOf(error), { cause: error })
}

import { messageOf, PermanentError, TransientError, type SluiceError } from '../errors.ts'

const tooLarge = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])
/** Errors about a topic or a record, not the broker: other records get through. */
const refusals = new Set([
  ...tooLarge,
  'TOPIC_AUTHORIZATION_FAILED',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_TIMESTAMP',
  'POLICY_VIOLATION',
])

/** The protocol's name of a broker's error, such as `MESSAGE_TOO_LARGE`. */
export function typeOfError(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('type' in at && typeof at.type === 'string') return at.type
  }
  return undefined
}

export function isRefusal(error: unknown): boolean {
  return refusals.has(typeOfError(error) ?? '')
}

/**
 * The error for the sender of a refused record. Only the size is the record's fault; rights can be granted
 * later.
 */
export function refusal(topic: string, error: unknown): SluiceError {
  const message = `topic ${topic} does not take the record: ${messageOf(error)}`
  return tooLarge.has(typeOfError(error) ?? '')
    ? new PermanentError('RECORD_TOO_LARGE', message, { cause: error })
    : new TransientError('KAFKA_REFUSED', message, { cause: error })
}

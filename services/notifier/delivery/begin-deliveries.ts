import { claimLeaseMs, receiverTimeoutMs, type Asker, type Attempt, type Parts } from './attempt.ts'
import type { RunAttempts } from './run-attempts.ts'

type BeginDependencies = Pick<Parts, 'deliveries' | 'clock'> & { run: RunAttempts; asker: Asker }

/**
 * `not_ours`: the delivery exists already, or its webhook has changed. An error: its result is not stored.
 */
export type BeginEnd = 'made' | 'not_ours' | Error

/**
 * Writes deliveries with the claims of their first attempts and runs these (docs/decisions/0072, 0093). Calls
 * `onEnd` once for each, as soon as it is over for its event.
 */
export type BeginDeliveries = <A extends Attempt>(
  attempts: readonly A[],
  onEnd: (attempt: A, end: BeginEnd) => void,
) => Promise<void>

export function createBeginDeliveries({ deliveries, run, asker, clock }: BeginDependencies): BeginDeliveries {
  return async (attempts, onEnd) => {
    const untilMs = clock.now() + claimLeaseMs
    const answers = await deliveries.beginAll(attempts)
    // Statements queue. A claim with less than 10 s left is too short for an attempt and left to expire.
    const isInTime = clock.now() < untilMs - receiverTimeoutMs
    const ours = attempts.filter((attempt, index) => {
      const answer = answers[index]
      if (isInTime && answer === true) return true
      attempt.release()
      onEnd(attempt, Error.isError(answer) ? answer : 'not_ours')
      return false
    })
    await run(ours, untilMs, asker, (attempt, error) => onEnd(attempt, error ?? 'made'))
  }
}

/** Begins one delivery: a group of one. */
export async function beginOne(begin: BeginDeliveries, attempt: Attempt): Promise<BeginEnd> {
  const ended = Promise.withResolvers<BeginEnd>()
  await begin([attempt], (_attempt, end) => ended.resolve(end))
  return ended.promise
}

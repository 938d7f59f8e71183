import { describeFailure, NobodyThere } from './check-target.ts'
import type { MadeAttempt } from './make-attempt.ts'

/** In a row. One harmless call for five attempts at most. */
const failuresToCheck = 5
/** Of all that were sent, at the end of a run. */
const shareToCheck = 0.1

export interface Refusals {
  /** Notes an attempt. Rejects when the target turns out to refuse everything. */
  note(made: MadeAttempt): Promise<void>
  /** Behind the last attempt. Rejects too when the target answered none of them. */
  end(): Promise<void>
}

/**
 * Calls `check` when attempts in a row got no answer: a target may refuse attacks, which is a defence, or have begun to refuse
 * everything, which ends the run. `isWhole`: no other process has sent attempts of the run before.
 */
export function watchRefusals(check: () => Promise<void>, isWhole: boolean): Refusals {
  let [sent, answered, unanswered] = [0, 0, 0]
  let lastFailure = ''
  return {
    async note({ last, earlier }) {
      if (last.kind === 'stopped') return
      sent++
      if (last.kind === 'answered' || earlier.length > 0) {
        answered++
        unanswered = 0
        return
      }
      lastFailure = describeFailure(last)
      if (++unanswered % failuresToCheck === 0) await check()
    },
    async end() {
      if (unanswered > 0 && unanswered >= sent * shareToCheck) await check()
      if (isWhole && sent > 0 && answered === 0)
        throw new NobodyThere(
          `the target answered none of ${sent} attempts, the last one with ${lastFailure}`,
        )
    },
  }
}

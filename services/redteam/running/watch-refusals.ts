import { describeFailure, NobodyThere } from './check-target.ts'
import type { MadeAttempt } from './make-attempt.ts'

/** Failures in a row before a check: at most one harmless call for five attempts. */
const failuresToCheck = 5
/** Share of failures among all attempts, at the end of a run. */
const shareToCheck = 0.1

export interface Refusals {
  /** Notes an attempt. Rejects when the target refuses everything. */
  note(made: MadeAttempt): Promise<void>
  /** Call after the last attempt. Rejects also when the target answered none. */
  end(): Promise<void>
}

/**
 * Calls `check` after several attempts in a row without an answer. A target may refuse attacks, which is a
 * defence. If it refuses everything, the run ends. `isWhole`: no other process has sent attempts of this run.
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

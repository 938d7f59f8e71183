import type { Clock } from '#runtime/clock.ts'
import type { Conversation } from '../targets/target.ts'
import { ask, type AskDependencies } from './make-attempt.ts'

/** The target, or the attacking model, does not answer. */
export class NobodyThere extends Error {}

export interface CheckDependencies extends AskDependencies {
  runId: string
  clock: Clock
}

/** A server's failure may pass within seconds; a refusal does not. */
const [maxTries, firstPauseMs] = [3, 1_000]

/**
 * Makes one harmless call, neither recorded nor counted. It tells a target that refuses everything from one
 * that refuses an attack. Throws NobodyThere with the status when the target does not answer.
 */
export function createTargetCheck(dependencies: CheckDependencies): () => Promise<void> {
  const { runId, clock, signal } = dependencies
  const greeting: Conversation = {
    ...{ session: runId, system: null, context: null, tools: [] },
    said: [{ role: 'user', text: 'Hello.' }],
  }
  return async () => {
    for (let tries = 1; ; tries++) {
      const answer = await ask(greeting, dependencies)
      if (answer.kind === 'answered' || answer.kind === 'stopped') return
      if (answer.kind !== 'failed') throw new NobodyThere(`the target cannot be reached: ${answer.error}`)
      const { statusCode } = answer
      const isRefused = statusCode !== null && statusCode >= 400 && statusCode < 500
      if (isRefused || tries === maxTries)
        throw new NobodyThere(`the target answers no harmless call either: ${describeFailure(answer)}`)
      await clock.sleep(firstPauseMs * 2 ** (tries - 1), signal)
    }
  }
}

/** Why there was no answer, by its status if known. */
export function describeFailure(failed: { error: string; statusCode?: number | null }): string {
  const { statusCode, error } = failed
  if (statusCode === undefined || statusCode === null) return error
  return error === `HTTP_${statusCode}` ? `status ${statusCode}` : `status ${statusCode}, ${error}`
}

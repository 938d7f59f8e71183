import type { Clock } from '#runtime/clock.ts'
import { decideAttempt } from '../steps/decide-attempt.ts'
import { turnRequestId } from '../steps/make-records.ts'
import type { AttemptStore, OpenAttempt } from '../stores/attempt-store.ts'
import type { ReadScores } from '../stores/score-reader.ts'

export interface JudgeDependencies {
  attempts: Pick<AttemptStore, 'open' | 'judge'>
  readScores: ReadScores
  clock: Clock
  pollIntervalMs: number
  /** Maximum wait for scores after the end of sending, or after the last verdict. */
  scoreWaitMs: number
  signal: AbortSignal
}

const pageSize = 500
/** While attempts are sent: scores come later, and looking for all of them would slow the sending. */
const pagesWhileSending = 2

/**
 * Gives recorded attempts their verdicts as scores come. Ends when `isSending` is false and none is left, or
 * when `signal` aborts.
 */
export async function judgeAttempts(
  dependencies: JudgeDependencies,
  isSending: () => boolean,
): Promise<void> {
  const { attempts, clock, pollIntervalMs, scoreWaitMs, signal } = dependencies
  let after = -1
  let lastMs = clock.now()
  while (!signal.aborted) {
    // Read first: what is recorded during this round belongs to the next one.
    const wasSending = isSending()
    if (wasSending) lastMs = clock.now()
    else after = -1
    // While verdicts come, the scorer is working, however far it is behind.
    const isOver = clock.now() - lastMs >= scoreWaitMs
    let left = 0
    for (let pages = 0; !wasSending || pages < pagesWhileSending; pages++) {
      const page = await attempts.open(after, pageSize)
      after = page.at(-1)?.number ?? after
      const { given, waiting } = await judgePage(dependencies, page, isOver)
      left += waiting
      if (given > 0 && !isOver) lastMs = clock.now()
      if (page.length < pageSize) {
        after = -1
        break
      }
    }
    if (!wasSending && left === 0) return
    await clock.sleep(pollIntervalMs, signal)
  }
}

/** `isOver`: attempts without all scores get no more of them. */
async function judgePage(
  { attempts, readScores }: JudgeDependencies,
  page: readonly OpenAttempt[],
  isOver: boolean,
): Promise<{ given: number; waiting: number }> {
  const asked = page.map((attempt) => ({ attempt, answered: answeredIn(attempt) }))
  const scores = await readScores(asked.flatMap(({ answered }) => answered))
  const verdicts = asked.flatMap(({ attempt: { number, judgedBy, reason }, answered }) => {
    const turns = answered.map((requestId) => ({ requestId, scores: scores.get(requestId) ?? [] }))
    const verdict = decideAttempt({ judgedBy, reason, turns }, isOver)
    return verdict === undefined ? [] : [{ number, ...verdict }]
  })
  await attempts.judge(verdicts)
  return { given: verdicts.length, waiting: page.length - verdicts.length }
}

/** The requests of its answers. The last counts if known: an interrupted one may be recorded all the same. */
function answeredIn({ requestId, earlierTurns, reason }: OpenAttempt): string[] {
  const earlier = Array.from({ length: earlierTurns }, (_unused, turn) => turnRequestId(requestId, turn))
  const endsWithAnswer = reason === null || reason === 'interrupted' || reason === 'attacker_failed'
  return endsWithAnswer ? [...earlier, requestId] : earlier
}

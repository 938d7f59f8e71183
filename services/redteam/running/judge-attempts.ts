import type { Clock } from '#runtime/clock.ts'
import { decideAttempt } from '../steps/decide-attempt.ts'
import { turnRequestId } from '../steps/make-records.ts'
import type { AttemptStore, OpenAttempt } from '../stores/attempt-store.ts'
import type { ReadScores } from '../stores/score-reader.ts'

export interface JudgeDependencies {
  attempts: AttemptStore
  readScores: ReadScores
  clock: Clock
  pollIntervalMs: number
  /** How long after its call was recorded an attempt waits for its scores. */
  scoreWaitMs: number
  signal: AbortSignal
}

const pageSize = 500
/** While attempts are sent: scores come behind them, and looking for those of all would take the sending's time. */
const pagesWhileSending = 2

/** Gives every recorded attempt its verdict as its scores come, until `isSending` is false and none is left, or `signal` aborts. */
export async function judgeAttempts(
  dependencies: JudgeDependencies,
  isSending: () => boolean,
): Promise<void> {
  const { attempts, clock, pollIntervalMs, signal } = dependencies
  let after = -1
  while (!signal.aborted) {
    // Asked first: what is recorded while this round looks is in the next one.
    const wasSending = isSending()
    if (!wasSending) after = -1
    let left = 0
    for (let pages = 0; !wasSending || pages < pagesWhileSending; pages++) {
      const page = await attempts.open(after, pageSize)
      after = page.at(-1)?.number ?? after
      left += await judgePage(dependencies, page)
      if (page.length < pageSize) {
        after = -1
        break
      }
    }
    if (!wasSending && left === 0) return
    await clock.sleep(pollIntervalMs, signal)
  }
}

/** Resolves to how many of them wait on. */
async function judgePage(
  { attempts, readScores, clock, scoreWaitMs }: JudgeDependencies,
  page: readonly OpenAttempt[],
): Promise<number> {
  const waiting = page.map((attempt) => ({ attempt, answered: answeredIn(attempt) }))
  const scores = await readScores(waiting.flatMap(({ answered }) => answered))
  const verdicts = waiting.flatMap(({ attempt: { number, judgedBy, reason, recordedAtMs }, answered }) => {
    const turns = answered.map((requestId) => ({ requestId, scores: scores.get(requestId) ?? [] }))
    const verdict = decideAttempt({ judgedBy, reason, turns }, clock.now() - recordedAtMs >= scoreWaitMs)
    return verdict === undefined ? [] : [{ number, ...verdict }]
  })
  await attempts.judge(verdicts)
  return page.length - verdicts.length
}

/** The requests of its answers. Its own last where there is one: what was interrupted may have been recorded all the same. */
function answeredIn({ requestId, earlierTurns, reason }: OpenAttempt): string[] {
  const earlier = Array.from({ length: earlierTurns }, (_unused, turn) => turnRequestId(requestId, turn))
  const endsWithAnswer = reason === null || reason === 'interrupted' || reason === 'attacker_failed'
  return endsWithAnswer ? [...earlier, requestId] : earlier
}

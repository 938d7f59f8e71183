import type { Clock } from '#runtime/clock.ts'
import { decideVerdict, unjudged } from '../steps/decide-verdict.ts'
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
  const scores = await readScores(page.map(({ requestId }) => requestId))
  const verdicts = page.flatMap(({ number, requestId, judgedBy, reason, recordedAtMs }) => {
    // Where there was no answer there is nothing to wait for; what was interrupted may have been recorded all the same.
    if (reason !== null && reason !== 'interrupted') return [{ number, ...unjudged(reason) }]
    const verdict = decideVerdict(judgedBy, scores.get(requestId) ?? [])
    if (verdict !== undefined) return [{ number, ...verdict }]
    if (clock.now() - recordedAtMs < scoreWaitMs) return []
    return [
      {
        number,
        ...unjudged(reason ?? (scores.has(requestId) ? 'scorer_did_not_run' : 'not_scored_in_time')),
      },
    ]
  })
  await attempts.judge(verdicts)
  return page.length - verdicts.length
}

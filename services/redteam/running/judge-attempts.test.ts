import { expect, test } from '@jest/globals'
import type { AttemptVerdict } from '../steps/decide-attempt.ts'
import type { OpenAttempt } from '../stores/attempt-store.ts'
import { judgeAttempts } from './judge-attempts.ts'

/**
 * Judges attempts with scores at these times. Sending ends at 50 s; 150 s without a verdict end the judging.
 */
async function judge(scoredAtMs: readonly number[]) {
  let nowMs = 0
  const ended = new Map<string, string>()
  const open = scoredAtMs.map((_at, number): OpenAttempt => {
    return { number, requestId: `req_${number}`, judgedBy: ['supply_chain'], earlierTurns: 0, reason: null }
  })
  const safe = { scorer: 'supply_chain', label: 'safe' as const, severity: null, reason: null, evidence: [] }
  await judgeAttempts(
    {
      attempts: {
        open: (after, limit) =>
          Promise.resolve(
            open.filter(({ number, requestId }) => number > after && !ended.has(requestId)).slice(0, limit),
          ),
        judge(verdicts: readonly (AttemptVerdict & { number: number })[]) {
          for (const { number, verdict, reason } of verdicts)
            ended.set(`req_${number}`, `${reason ?? verdict} at ${nowMs / 1_000} s`)
          return Promise.resolve()
        },
      },
      readScores: (ids) =>
        Promise.resolve(
          new Map(
            ids
              .filter((id) => (scoredAtMs[Number(id.slice(4))] ?? Infinity) <= nowMs)
              .map((id) => [id, [safe]]),
          ),
        ),
      clock: { now: () => nowMs, sleep: (delayMs) => Promise.resolve(void (nowMs += delayMs)) },
      ...{ pollIntervalMs: 1_000, scoreWaitMs: 150_000, signal: new AbortController().signal },
    },
    () => nowMs < 50_000,
  )
  return [...ended.values()]
}

test('scores are waited for from the end of the sending on, and as long as they come', async () => {
  expect(await judge([10_000, 180_000, 320_000, Infinity])).toEqual([
    'pass at 10 s',
    'pass at 180 s',
    'pass at 320 s',
    'not_scored_in_time at 470 s',
  ])
})

test('when none has come for so long, none is waited for any more', async () => {
  expect(await judge([10_000, 400_000, Infinity])).toEqual([
    'pass at 10 s',
    'not_scored_in_time at 199 s',
    'not_scored_in_time at 199 s',
  ])
})

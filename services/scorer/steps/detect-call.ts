import type { Log } from '#runtime/log.ts'
import { createTakeTurn } from '#runtime/take-turns.ts'
import type { Waiter } from '../judge/wait-queue.ts'
import type { Call } from '#detectors/call-text.ts'
import { labelOfScorer, type ScorerMetrics } from '../scorer-metrics.ts'
import type { DetectorThreads } from '../threads/detector-threads.ts'
import type { ChosenScorers } from './choose-scorers.ts'
import type { NamedVerdict } from '#detectors/verdict.ts'
import { runDetectors, type OnVerdict } from './run-detectors.ts'

/** Verdicts of the chosen detectors and custom scorers. Rejects when `signal` aborts. */
export type DetectCall = (
  chosen: ChosenScorers,
  call: Call,
  who: Waiter,
  signal: AbortSignal,
) => Promise<readonly NamedVerdict[]>

interface DetectCallOptions {
  threads: DetectorThreads
  /** UTF-16 units of both bodies up to which a call is read here: moving it would cost more. */
  inlineMaxChars: number
  metrics: ScorerMetrics
  log: Log
}

/** About 0.1 s of a project's own patterns. Beyond it they could hold up every other project's calls. */
const maxInlineSteps = 20_000_000

function isCostly({ custom }: ChosenScorers, size: number): boolean {
  const steps = custom.reduce((sum, scorer) => sum + (scorer.isOfProject ? scorer.steps : 0), 0)
  return steps * size > maxInlineSteps
}

/** Reads small calls on this thread, yielding regularly; large ones in another thread with a time limit. */
export function createDetectCall({ threads, inlineMaxChars, metrics, log }: DetectCallOptions): DetectCall {
  return async (chosen, call, who, signal) => {
    const verdicts: NamedVerdict[] = []
    const onVerdict: OnVerdict = (found, seconds, defect) => {
      verdicts.push(found)
      if (defect !== undefined) log.error({ err: defect, scorer: found.scorer }, 'detector failed')
      metrics.detectorSeconds.observe({ scorer: labelOfScorer(found) }, seconds)
    }
    const size = (call.request?.json.length ?? 0) + (call.response?.json.length ?? 0)
    if (size > inlineMaxChars || isCostly(chosen, size))
      await threads.run(chosen, call, onVerdict, who, signal)
    else {
      const takeTurn = createTakeTurn()
      await runDetectors(chosen, call, () => (signal.throwIfAborted(), takeTurn()), onVerdict)
    }
    return verdicts
  }
}

import type { Log } from '#runtime/log.ts'
import { createTakeTurn } from '#runtime/take-turns.ts'
import type { Waiter } from '../judge/waiting-lines.ts'
import type { Call } from '../scoring/call-text.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'
import type { DetectorThreads } from '../threads/detector-threads.ts'
import type { ChosenScorers } from './choose-scorers.ts'
import type { NamedVerdict } from './named-verdict.ts'
import { runDetectors, type OnVerdict } from './run-detectors.ts'

/** Verdicts of the detectors and custom scorers that were chosen. Rejects when `signal` aborts. */
export type DetectCall = (
  chosen: ChosenScorers,
  call: Call,
  who: Waiter,
  signal: AbortSignal,
) => Promise<readonly NamedVerdict[]>

interface DetectCallOptions {
  threads: DetectorThreads
  /** UTF-16 units of both bodies up to which a call is read here: handing it over would cost more than it saves. */
  inlineMaxChars: number
  metrics: ScorerMetrics
  log: Log
}

/** Small calls are read at once, in turns with everything else; large ones in a thread, where they are held to a time. */
export function createDetectCall({ threads, inlineMaxChars, metrics, log }: DetectCallOptions): DetectCall {
  return async (chosen, call, who, signal) => {
    const verdicts: NamedVerdict[] = []
    const onVerdict: OnVerdict = (found, seconds, defect) => {
      verdicts.push(found)
      if (defect !== undefined)
        log.error({ err: defect, scorer: found.scorer }, 'a detector failed on a call')
      metrics.detectorSeconds.observe({ scorer: found.scorer }, seconds)
    }
    const size = (call.request?.json.length ?? 0) + (call.response?.json.length ?? 0)
    if (size > inlineMaxChars) await threads.run(chosen, call, onVerdict, who, signal)
    else {
      const takeTurn = createTakeTurn()
      await runDetectors(chosen, call, () => (signal.throwIfAborted(), takeTurn()), onVerdict)
    }
    return verdicts
  }
}

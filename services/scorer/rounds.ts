import type { Clock } from '#runtime/clock.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Part } from '#runtime/run-together.ts'

interface RoundsOptions {
  everyMs: number
  /** True: again at once. Rejects only for what a later round may do better. */
  work: (signal: AbortSignal) => Promise<boolean>
  /** The log message for a round that failed. */
  failure: string
  clock: Clock
  log: Log
}

/** A failing round is followed by pauses up to this. */
const maxPauseMs = 60_000

/** Repeats `work` beside the consumers. A round that fails holds up no job and ends no process. */
export function createRounds({ everyMs, work, failure, clock, log }: RoundsOptions): Part {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  async function run(): Promise<void> {
    const { signal } = stopping
    const isOver = () => signal.aborted
    for (let failures = 0; !isOver();) {
      let isAgain = false
      try {
        isAgain = await work(signal)
        failures = 0
      } catch (error) {
        if (isOver()) return
        failures += 1
        log.warn({ err: error, reason: messageOf(error) }, failure)
      }
      if (!isAgain) await clock.sleep(Math.min(maxPauseMs, everyMs * 2 ** failures), signal)
    }
  }
  return {
    start: () => Promise.resolve(void (running ??= run())),
    async stop() {
      stopping.abort()
      await running
    },
  }
}

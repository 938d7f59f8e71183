import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Part } from '#runtime/run-together.ts'

/** A note counts for five minutes (schemas/judge-status.ts), so that three may fail. */
const intervalMs = 60_000

export interface AnnounceOptions {
  /** Notes whether this scorer has a judge. */
  note: () => Promise<void>
  clock: Clock
  log: Log
}

/** Notes every minute whether this scorer has a judge, for people who wonder why calls are undecided. */
export function announceJudge({ note, clock, log }: AnnounceOptions): Part {
  const stopping = new AbortController()
  let announcing: Promise<void> | undefined

  async function announce(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await note()
      } catch (error) {
        log.warn({ err: error }, 'noting whether there is a judge failed')
      }
      await clock.sleep(intervalMs, stopping.signal)
    }
  }

  return {
    start() {
      announcing = announce()
      return Promise.resolve()
    },
    async stop() {
      stopping.abort()
      await announcing
    },
  }
}

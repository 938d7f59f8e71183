import { messageOf } from './errors.ts'
import type { Log } from './log.ts'
import type { Health, Service } from './service.ts'

/** A part of a service: another service, or what only opens and closes. `stop` is safe before `start`. */
export interface Part {
  start(): Promise<void>
  stop(): Promise<void>
  health?(): Health
  readonly done?: Promise<void>
}

const fromWell: readonly Health['status'][] = ['ok', 'degraded', 'starting', 'stopping', 'failed']

/**
 * One service of several parts, started in order and stopped in reverse; parts of a list together. Each is
 * stopped even if another fails to. `done` rejects with the first part's; health is that of the worst part.
 */
export function runTogether(steps: readonly (Part | readonly Part[])[], log: Log): Service {
  const parts = steps.flat()
  const finished = Promise.withResolvers<undefined>()
  let stopping: Promise<void> | undefined
  let starting: Promise<void> | undefined

  async function startAll(): Promise<void> {
    for (const part of parts) {
      if (stopping !== undefined) return
      part.done?.catch((error: unknown) => finished.reject(error))
      await part.start()
    }
  }

  async function stopOne(part: Part): Promise<void> {
    try {
      await part.stop()
    } catch (error) {
      log.error({ err: error }, 'stopping a part failed')
      finished.reject(error instanceof Error ? error : new Error(messageOf(error)))
    }
  }

  async function stopAll(): Promise<void> {
    for (const step of steps.toReversed()) await Promise.all([step].flat().map(stopOne))
    finished.resolve(undefined)
  }

  return {
    done: finished.promise,
    start: () => (starting ??= startAll()),
    stop: () => (stopping ??= stopAll()),
    health: () => {
      const healths = parts.flatMap((part) => (part.health === undefined ? [] : [part.health()]))
      const worst = Math.max(0, ...healths.map(({ status }) => fromWell.indexOf(status)))
      const problems = Object.fromEntries<string>(
        healths.flatMap((health) => Object.entries(health.problems ?? {})),
      )
      const status = fromWell[worst] ?? 'failed'
      return Object.keys(problems).length === 0 ? { status } : { status, problems }
    },
  }
}

import type { Service } from '#runtime/service.ts'
import type { SimProcess } from './sim-process.ts'
import type { World } from './world.ts'

/** A process that a supervisor restarts whenever it ends. */
export interface Kept {
  readonly name: string
  /** The current process, or the last one. */
  process: SimProcess
  /** SIGTERM: it stops in order, or is killed after half a minute. */
  restart(): void
}

const notStarted: Service = {
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  health: () => ({ status: 'starting' }),
  done: new Promise(() => undefined),
}

/** Starts a process, and a new one whenever it ends. `start` is called within it. */
export function keepRunning(world: World, name: string, start: () => Service): Kept {
  let service = notStarted
  const begin = () => {
    const process: SimProcess = { name, isAlive: true, stoppedUntilMs: 0 }
    kept.process = process
    world.onKilled(process, () => world.after(world.random.between(50, 2_000), begin, null))
    const run = () => {
      service = start()
      const end = (error: unknown) => world.kill(process, `it ended: ${String(error)}`)
      service.done.catch(end)
      service.start().catch(end)
    }
    world.after(0, run, process)
  }
  const kept: Kept = {
    name,
    process: { name, isAlive: false, stoppedUntilMs: 0 },
    restart() {
      const { process } = kept
      if (!process.isAlive) return
      world.note(() => `stop ${name}`)
      const over = () => world.kill(process, 'it has stopped', false)
      const stop = () => void service.stop().then(over, over)
      world.after(0, stop, process)
      world.after(30_000, () => world.kill(process, 'it did not stop in time'), null)
    },
  }
  begin()
  return kept
}

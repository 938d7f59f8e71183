import { setTimeout as sleep } from 'node:timers/promises'
import { consumers } from '../stage/roster.ts'
import type { Stage } from '../stage/start-stage.ts'
import type { Fault } from './fault.ts'

// Long enough for the group to deal anew and for work to go on.
const settleMs = 8_000

/** One of two consumers stops; then there are four, then one, then two again. */
export const scaleGroup: Fault = {
  kind: 'scale-group',
  targets: consumers,
  lastsMs: [8_000, 15_000],
  holds: (target) => [`${target}-1`, `${target}-2`],
  begin: async (stage, target) => {
    await stop(stage, `${target}-2`)
    return async () => {
      const more = [2, 3, 4].map((number) => `${target}-${number}`)
      await Promise.all(more.map((name) => stage.startOneMore(name)))
      await sleep(settleMs)
      await Promise.all(more.map((name) => stop(stage, name)))
      await sleep(settleMs)
      await stage.startOneMore(`${target}-2`)
    }
  },
}

async function stop(stage: Stage, name: string): Promise<void> {
  await stage.services.get(name)?.stop()
  stage.services.delete(name)
}

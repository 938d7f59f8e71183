import { setTimeout as sleep } from 'node:timers/promises'
import { consumers } from '../fixture/roster.ts'
import type { Fixture } from '../fixture/start-fixture.ts'
import type { Fault } from './fault.ts'

// Long enough for the group to rebalance and continue.
const settleMs = 8_000

/** Scales a consumer from two to one, to four, to one, and back to two. */
export const scaleGroup: Fault = {
  kind: 'scale-group',
  targets: consumers,
  lastsMs: [8_000, 15_000],
  holds: (target) => [`${target}-1`, `${target}-2`],
  begin: async (fixture, target) => {
    await stop(fixture, `${target}-2`)
    return async () => {
      const more = [2, 3, 4].map((number) => `${target}-${number}`)
      await Promise.all(more.map((name) => fixture.startOneMore(name)))
      await sleep(settleMs)
      await Promise.all(more.map((name) => stop(fixture, name)))
      await sleep(settleMs)
      await fixture.startOneMore(`${target}-2`)
    }
  },
}

async function stop(fixture: Fixture, name: string): Promise<void> {
  await fixture.services.get(name)?.stop()
  fixture.services.delete(name)
}

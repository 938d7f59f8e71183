import { processNames } from '../fixture/roster.ts'
import { awaitService } from './await-recovery.ts'
import type { Fault } from './fault.ts'

/** Corrections of a wrong clock: seconds, minutes, sometimes an hour. */
const stepsS = [-3_600, -120, -30, -5, 5, 30, 120, 3_600]

function readTarget(target: string): { name: string; stepS: number } {
  const [name = '', step] = target.split(' ')
  return { name, stepS: Number(step) }
}

/** Shifts the wall clock of one process for a while; the correction is a step back. */
export const stepClock: Fault = {
  kind: 'step-clock',
  targets: processNames.flatMap((name) => stepsS.map((stepS) => `${name} ${stepS > 0 ? '+' : ''}${stepS} s`)),
  lastsMs: [3_000, 20_000],
  weight: 3,
  holds: (target) => [readTarget(target).name],
  begin: async ({ clocks, services }, target) => {
    const { name, stepS } = readTarget(target)
    const service = services.get(name)
    if (service === undefined) throw new Error(`there is no ${name}`)
    await clocks.step(name, stepS * 1_000)
    return async () => {
      await clocks.step(name, 0)
      await awaitService(service)
    }
  },
}

import type { ServiceProcess } from '../../../support/service-process.ts'
import { readMetric } from '../../../support/read-metric.ts'
import { gateways } from './roster.ts'

/** What gateways say that they have lost, over all their lives: a counter ends with its process. */
export interface LossCount {
  /** Before a gateway is ended. */
  note(name: string): Promise<void>
  /** Of all, the lives that run now included. */
  total(): Promise<number>
}

const metric = 'sluice_gateway_records_lost_total'

export function createLossCount(services: ReadonlyMap<string, ServiceProcess>): LossCount {
  const ended = new Map<string, number>()
  const read = (name: string) => readMetric(services.get(name)?.operationsPort ?? 0, metric)
  return {
    async note(name) {
      if (!(gateways as readonly string[]).includes(name)) return
      try {
        ended.set(name, (ended.get(name) ?? 0) + (await read(name)))
      } catch (error) {
        // fetch: it is between two lives, and has been asked at the end of the last one.
        if (!(error instanceof TypeError)) throw error
      }
    },
    async total() {
      const running = await Promise.all(gateways.map(read))
      return [...ended.values(), ...running].reduce((sum, count) => sum + count, 0)
    },
  }
}

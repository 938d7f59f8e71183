import { AggregatorRegistry, type Registry } from 'prom-client'
import type { MetricJson } from './worker-report.ts'

/** What several processes counted, those included that are gone: a counter never goes back because a worker died. */
export interface MetricTotals {
  /** `last` is what a worker that is gone reported last. */
  retire(last: readonly MetricJson[]): Promise<void>
  /** Everything as Prometheus reads it. */
  text(living: readonly (readonly MetricJson[])[]): Promise<string>
}

export function createMetricTotals(): MetricTotals {
  let gone: MetricJson[] = []
  // One after the other: of two workers that end together each would add itself to what there was before both.
  let retired = Promise.resolve()
  const add = async (last: readonly MetricJson[]) => {
    const kept = last.filter(({ type }) => isKept(type))
    gone = (await aggregate([gone, kept]).getMetricsAsJSON()) as unknown as MetricJson[]
  }
  return {
    retire: (last) => (retired = retired.then(() => add(last))),
    async text(living) {
      await retired
      return aggregate([gone, ...living]).metrics()
    },
  }
}

/** Not gauges: what a process that is gone held, nobody holds. */
function isKept(type: string): boolean {
  return type === 'counter' || type === 'histogram'
}

function aggregate(processes: readonly (readonly MetricJson[])[]): Registry {
  return AggregatorRegistry.aggregate(processes.map((metrics) => [...metrics]))
}

import { AggregatorRegistry, type Registry } from 'prom-client'
import type { MetricJson } from './worker-report.ts'

/** Metrics of all workers, ended ones included: a counter never decreases because a worker died. */
export interface MetricTotals {
  /** `last` is the final report of an ended worker. */
  retire(last: readonly MetricJson[]): Promise<void>
  /** All metrics in the Prometheus text format. */
  text(living: readonly (readonly MetricJson[])[]): Promise<string>
}

export function createMetricTotals(): MetricTotals {
  let gone: MetricJson[] = []
  // Sequential: two workers that end together would each add to the same old total.
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

/** Gauges end with their process. */
function isKept(type: string): boolean {
  return type === 'counter' || type === 'histogram'
}

function aggregate(processes: readonly (readonly MetricJson[])[]): Registry {
  return AggregatorRegistry.aggregate(processes.map((metrics) => [...metrics]))
}

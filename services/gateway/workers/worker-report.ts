import type { Metrics } from '#runtime/metrics.ts'
import type { Health } from '#runtime/service.ts'

/** A metric and its values, as they cross between processes. */
export interface MetricJson {
  name: string
  /** `counter`, `gauge`, `histogram`, `summary`: prom-client's types call them by number. */
  type: string
}

export async function readMetrics({ registry }: Metrics): Promise<MetricJson[]> {
  return (await registry.getMetricsAsJSON()) as unknown as MetricJson[]
}

/** What a worker tells the process that started it. */
export interface WorkerReport {
  kind: 'report'
  health: Health
  metrics: MetricJson[]
}

/** What it is told. */
export interface WorkerOrder {
  kind: 'stop'
}

export const reportEveryMs = 1_000

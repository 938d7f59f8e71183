import type { Metrics } from '#runtime/metrics.ts'
import type { Health } from '#runtime/service.ts'

/** A metric with its values, as sent between processes. */
export interface MetricJson {
  name: string
  /** `counter`, `gauge`, `histogram` or `summary`; prom-client's types wrongly say numbers. */
  type: string
}

export async function readMetrics({ registry }: Metrics): Promise<MetricJson[]> {
  return (await registry.getMetricsAsJSON()) as unknown as MetricJson[]
}

/** Sent by a worker to its parent. */
export interface WorkerReport {
  kind: 'report'
  health: Health
  metrics: MetricJson[]
}

/** Sent by the parent to a worker. */
export interface WorkerOrder {
  kind: 'stop'
}

export const reportEveryMs = 1_000

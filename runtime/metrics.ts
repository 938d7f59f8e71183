import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/**
 * The registry of one process. Metric names start with `sluice_` and end with units (`_seconds`, `_bytes`,
 * `_total`). Label values come from fixed sets, so that hostile input adds no series.
 */
export interface Metrics {
  registry: Registry
  counter<L extends string>(name: string, help: string, labelNames?: readonly L[]): Counter<L>
  /** `together`: how to aggregate the gauges of several processes. */
  gauge<L extends string>(
    name: string,
    help: string,
    labelNames?: readonly L[],
    together?: 'sum' | 'max',
  ): Gauge<L>
  histogram<L extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames?: readonly L[],
  ): Histogram<L>
}

/**
 * A name that is registered twice gives the same metric, so that two consumers in one process share theirs.
 */
export function createMetrics(options: { processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry()
  if (options.processMetrics === true) collectDefaultMetrics({ register: registry })
  const once = <M>(name: string, make: () => M): M =>
    (registry.getSingleMetric(name) as M | undefined) ?? make()
  return {
    registry,
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      once(name, () => new Counter<L>({ name, help, labelNames: [...labelNames], registers: [registry] })),
    gauge: <L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[] = [],
      together: 'sum' | 'max' = 'sum',
    ) =>
      once(
        name,
        () =>
          new Gauge<L>({
            name,
            help,
            labelNames: [...labelNames],
            registers: [registry],
            aggregator: together,
          }),
      ),
    histogram: <L extends string>(
      name: string,
      help: string,
      buckets: readonly number[],
      labelNames: readonly L[] = [],
    ) =>
      once(
        name,
        () =>
          new Histogram<L>({
            name,
            help,
            buckets: [...buckets],
            labelNames: [...labelNames],
            registers: [registry],
          }),
      ),
  }
}

/** Sets a gauge when it is scraped. Several parts of a process can each add their own series. */
export function whenAsked(gauge: Gauge, report: () => void): void {
  const others = (gauge as { collect?: () => void }).collect?.bind(gauge)
  Object.assign(gauge, {
    collect: () => {
      others?.()
      report()
    },
  })
}

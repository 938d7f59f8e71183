import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/**
 * A registry for one process. Metric names start with `sluice_`, units last (`_seconds`, `_bytes`, `_total`); labels come from
 * fixed sets, so that hostile input adds no series.
 */
export interface Metrics {
  registry: Registry
  counter<L extends string>(name: string, help: string, labelNames?: readonly L[]): Counter<L>
  /** `together`: what the gauges of several processes amount to. */
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

/** Asking for a name twice gives the same metric, so that two consumers in one process share theirs. */
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

/** Has a gauge set when it is asked for. Several parts of a process that share one add their own series each. */
export function whenAsked(gauge: Gauge, report: () => void): void {
  const others = (gauge as { collect?: () => void }).collect?.bind(gauge)
  Object.assign(gauge, {
    collect: () => {
      others?.()
      report()
    },
  })
}

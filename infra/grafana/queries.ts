type Query = { expr: string; legend: string }

/** Legend of each series: its labels, in order. */
const legendOf = (by: string) =>
  by
    .split(', ')
    .filter((label) => label !== '')
    .map((label) => `{{${label}}}`)
    .join(' ')

const grouped = (aggregation: string, by: string) => (by === '' ? aggregation : `${aggregation} by (${by})`)

/** Rate of a counter per second. `or on () vector(0)` draws zero if there is no such series yet. */
export function perSecond(series: string, by = '', legend = legendOf(by)): Query {
  return { expr: `${grouped('sum', by)} (rate(${series}[$__rate_interval])) or on () vector(0)`, legend }
}

/** Increase of a counter in the last hour. */
export function inAnHour(series: string, by = '', legend = legendOf(by)): Query {
  return { expr: `${grouped('sum', by)} (increase(${series}[1h])) or on () vector(0)`, legend }
}

/** Maximum of a gauge. */
export function largest(series: string, by = '', legend = legendOf(by)): Query {
  return { expr: `${grouped('max', by)} (${series})`, legend }
}

/** Sum of a gauge. */
export function total(series: string, by = '', legend = legendOf(by)): Query {
  return { expr: `${grouped('sum', by)} (${series})`, legend }
}

/** Median and 99th percentile. */
export function quantiles(histogram: string): Query[] {
  return [
    { expr: quantileOf(0.5, histogram, 'le'), legend: 'p50' },
    { expr: quantileOf(0.99, histogram, 'le'), legend: 'p99' },
  ]
}

/** 99th percentile by label. */
export function p99(histogram: string, by: string): Query {
  return { expr: quantileOf(0.99, histogram, `le, ${by}`), legend: legendOf(by) }
}

/** Share of a part in the whole, of counters. */
export function share(part: string, whole: string, legend: string): Query {
  return {
    expr: `sum(rate(${part}[$__rate_interval])) / sum(rate(${whole}[$__rate_interval]))`,
    legend,
  }
}

function quantileOf(quantile: number, histogram: string, by: string): string {
  return `histogram_quantile(${quantile}, sum by (${by}) (rate(${histogram}_bucket[$__rate_interval])))`
}

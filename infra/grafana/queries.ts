type Query = { expr: string; legend: string }

/** What each is called in legends: its labels, in their order. */
const legendOf = (by: string) =>
  by
    .split(', ')
    .filter((label) => label !== '')
    .map((label) => `{{${label}}}`)
    .join(' ')

const grouped = (aggregation: string, by: string) => (by === '' ? aggregation : `${aggregation} by (${by})`)

/** Of a counter, a second. `or on () vector(0)`: a line at zero where nothing of the kind has happened yet. */
export function perSecond(series: string, by = '', legend = legendOf(by)): Query {
  return { expr: `${grouped('sum', by)} (rate(${series}[$__rate_interval])) or on () vector(0)`, legend }
}

/** Of a counter, in the last hour. */
export function inAnHour(series: string, by = '', legend = legendOf(by)): Query {
  return { expr: `${grouped('sum', by)} (increase(${series}[1h])) or on () vector(0)`, legend }
}

/** The largest of a gauge. */
export function largest(series: string, by = '', legend = legendOf(by)): Query {
  return { expr: `${grouped('max', by)} (${series})`, legend }
}

/** All of a gauge together. */
export function total(series: string, by = '', legend = legendOf(by)): Query {
  return { expr: `${grouped('sum', by)} (${series})`, legend }
}

/** Half and all but one in a hundred are below. */
export function quantiles(histogram: string): Query[] {
  return [
    { expr: quantileOf(0.5, histogram, 'le'), legend: 'p50' },
    { expr: quantileOf(0.99, histogram, 'le'), legend: 'p99' },
  ]
}

/** What all but one in a hundred are below, of each. */
export function p99(histogram: string, by: string): Query {
  return { expr: quantileOf(0.99, histogram, `le, ${by}`), legend: legendOf(by) }
}

/** What of a counter a part of it is. */
export function share(part: string, whole: string, legend: string): Query {
  return {
    expr: `sum(rate(${part}[$__rate_interval])) / sum(rate(${whole}[$__rate_interval]))`,
    legend,
  }
}

function quantileOf(quantile: number, histogram: string, by: string): string {
  return `histogram_quantile(${quantile}, sum by (${by}) (rate(${histogram}_bucket[$__rate_interval])))`
}

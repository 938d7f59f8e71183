import { declaredMetrics } from './declared-metrics.ts'

const declared = [...declaredMetrics().values()]
/** Added by Prometheus or by the scrape configuration. */
const scraped = ['job', 'service', 'instance', 'cluster', 'namespace', 'release']
/** Labels of the series ALERTS. */
const ofAlerts = ['alertname', 'severity', 'alertstate']

/**
 * Names and labels that services declare, with the series of histograms. `isProse`: also a histogram's own
 * name.
 */
function knownSeries(isProse: boolean): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map<string, ReadonlySet<string>>([['up', new Set(scraped)]])
  for (const { name, type, labels } of declared) {
    const series = ['_bucket', '_sum', '_count'].map((end) => name + end)
    const names = type === 'histogram' ? [...series, ...(isProse ? [name] : [])] : [name]
    const all = new Set([...labels, ...scraped, ...(type === 'histogram' ? ['le'] : [])])
    for (const one of names) known.set(one, all)
  }
  return known
}

const prose = knownSeries(true)
const queries = knownSeries(false)

const selector = /\b((?:sluice|nodejs|process)_\w+|up)\b(?:\{([^}]*)\})?/g
const grouping = /\bby \(([^)]*)\)/g

/**
 * Unknown names in a text of queries: metrics, their labels, and labels to group by that none of its metrics
 * has.
 */
export function findUnknown(text: string, isProse = false): string[] {
  const known = isProse ? prose : queries
  const unknown: string[] = []
  const grouped = new Set<string>([...scraped, ...ofAlerts])
  for (const [, name = '', matchers = ''] of text.matchAll(selector)) {
    const labels = known.get(name)
    if (labels === undefined) unknown.push(name)
    for (const label of labels ?? []) grouped.add(label)
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=|!)/g))
      if (labels !== undefined && !labels.has(label)) unknown.push(`${name}{${label}}`)
  }
  for (const [, list = ''] of text.matchAll(grouping))
    for (const label of list.split(',').map((part) => part.trim()))
      if (!grouped.has(label)) unknown.push(`by (${label})`)
  return unknown
}

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { declaredMetrics, makers, type DeclaredMetric } from '../support/declared-metrics.ts'
import { expectPage, tableOf } from '../support/documented-page.ts'

const ours = [...declaredMetrics().values()]
  .filter(({ name }) => name.startsWith('sluice_'))
  .sort((a, b) => (a.name < b.name ? -1 : 1))

test('covers every service', () => {
  const services = join(import.meta.dirname, '..', '..', 'services')
  const running = readdirSync(services).filter((name) => existsSync(join(services, name, 'main.ts')))
  expect(Object.keys(makers).sort()).toEqual(running.sort())
})

// https://prometheus.io/docs/practices/naming/
const units = /_(seconds|bytes|ratio|usd|info)$/
/** Plurals of metrics without a unit. */
const counted =
  /_(calls|records|events|attempts|endpoints|partitions|topics|connections|workers|open|overdue|up|ahead|paused|refused|unreached|scorers|jobs|rules|invalid)$/

test.each(ours.map((metric) => [metric.name, metric] as const))(
  '%s is named by the conventions',
  (name, metric) => {
    expect(name).toMatch(/^sluice_[a-z0-9_]+$/)
    expect(metric.help).toMatch(/^\S.{10,}/)
    expect(name.endsWith('_total')).toBe(metric.type === 'counter')
    if (metric.type !== 'counter') expect(name).toMatch(units.test(name) ? units : counted)
    if (metric.type === 'histogram') expect(name).toMatch(/_(seconds|bytes|records)$/)
  },
)

/** Labels whose values the code or the operator's files fix: none has users, keys, calls or projects. */
const boundedLabels = new Set(
  (
    'by code dependency event fate group kind label lane method of outcome published reason result role route scorer selection severity state status ' +
    'task topic upstream variable verdict what'
  ).split(' '),
)

test('no label grows with the records', () => {
  const labels = new Set(ours.flatMap((metric) => metric.labels))
  expect([...labels].filter((label) => !boundedLabels.has(label))).toEqual([])
})

test('docs/metrics.md is made from what the services declare', () => {
  const groups = Map.groupBy(ours, ({ services }) =>
    services.length === Object.keys(makers).length ? 'every service' : services.join(', '),
  )
  const sections = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([services, metrics]) => `## ${services}\n\n${tableOf(header, metrics.map(rowOf))}\n`)
  expectPage('metrics.md', [introduction, ...sections].join('\n'))
})

const header = ['metric', 'type', 'labels', 'what it is']
const introduction = `# Metrics

Generated from what the services declare by \`UPDATE_DOCS=1\`. A section's title names
the services that have its metrics.

Every process serves its metrics at \`/metrics\` of its operations port, with those of Node and of the process
(\`nodejs_*\`, \`process_*\`). No label holds a project, a person or a call: log lines name those
([operations](operations.md#from-an-alert-to-the-record)).
`

function rowOf({ name, type, labels, help }: DeclaredMetric): string[] {
  const names = labels.map((label) => `\`${label}\``).join(', ')
  return [`\`${name}\``, type, names === '' ? '—' : names, help.replace(/\.$/, '')]
}

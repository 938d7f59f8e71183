import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { declaredMetrics, makers, type DeclaredMetric } from '../support/declared-metrics.ts'
import { expectPage, tableOf } from '../support/documented-page.ts'

const ours = [...declaredMetrics().values()]
  .filter(({ name }) => name.startsWith('sluice_'))
  .sort((a, b) => (a.name < b.name ? -1 : 1))

test('every service is asked', () => {
  const services = join(import.meta.dirname, '..', '..', 'services')
  const running = readdirSync(services).filter((name) => existsSync(join(services, name, 'main.ts')))
  expect(Object.keys(makers).sort()).toEqual(running.sort())
})

// https://prometheus.io/docs/practices/naming/
const units = /_(seconds|bytes|ratio|usd|info)$/
/** What is counted, where a metric has no unit. */
const counted =
  /_(calls|records|events|attempts|endpoints|partitions|topics|connections|workers|open|up|ahead|paused|refused|unreached|scorers|jobs)$/

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

/** Each takes its values from a set that the code or the operator's own files fix. None of people, keys, calls or projects. */
const boundedLabels = new Set(
  (
    'by code dependency event fate group kind label lane method of outcome published reason result role route scorer selection state status ' +
    'task topic variable verdict what'
  ).split(' '),
)

test('no label grows with what is recorded', () => {
  const labels = new Set(ours.flatMap((metric) => metric.labels))
  expect([...labels].filter((label) => !boundedLabels.has(label))).toEqual([])
})

test('docs/metrics.md is made from what the services declare', () => {
  const rows = ours.map(({ name, type, labels, services, help }: DeclaredMetric) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', ') || '—',
    services.length === Object.keys(makers).length ? 'all' : services.join(', '),
    help.replace(/\.$/, ''),
  ])
  expectPage(
    'metrics.md',
    `# Metrics\n\nMade from what the services declare; \`UPDATE_DOCS=1\` before \`tests/documentation\` writes it anew. Every process serves them at \`/metrics\` of its
operations port, with those of Node and of the process (\`nodejs_*\`, \`process_*\`). No label holds a project, a person or a call: those are in the log lines
(docs/operations.md).\n\n${tableOf(['metric', 'type', 'labels', 'of', 'what it is'], rows)}\n`,
  )
})

import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { Client } from 'pg'
import { parse } from 'yaml'
import { declaredMetrics } from '../support/declared-metrics.ts'
import { createTestDatabase } from '../support/infrastructure.ts'
import { prometheusTool } from '../support/prometheus-tools.ts'
import { findUnknown } from '../support/promql.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const prometheus = join(root, 'infra', 'prometheus')
const runbooks = join(root, 'docs', 'runbooks')

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook_url: string }
}
interface RuleTest {
  alert_rule_test: { alertname: string; exp_alerts: unknown[] }[]
}

const read = (file: string) => parse(readFileSync(join(prometheus, file), 'utf8')) as unknown
const rules = (read('sluice.rules.yml') as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)
const ruleTests = (read('sluice.rules.test.yml') as { tests: RuleTest[] }).tests
const pageOf = ({ alert }: Rule) => readFileSync(join(runbooks, `${alert}.md`), 'utf8')

test('promtool: every alert fires when it should, and only then', async () => {
  const promtool = await prometheusTool('promtool')
  await run(promtool, ['check', 'rules', 'sluice.rules.yml'], { cwd: prometheus })
  await run(promtool, ['test', 'rules', 'sluice.rules.test.yml'], { cwd: prometheus })
  await run(promtool, ['check', 'config', 'prometheus.yml'], { cwd: prometheus })
  const outcomes = (fires: boolean) => {
    const tried = ruleTests
      .flatMap((one) => one.alert_rule_test)
      .filter(({ exp_alerts: expected }) => expected.length > 0 === fires)
      .map(({ alertname }) => alertname)
    return [...new Set(tried)].sort()
  }
  const names = rules.map(({ alert }) => alert).sort()
  expect(outcomes(true)).toEqual(names)
  expect(outcomes(false)).toEqual(names)
})

test('every alert has a severity and a runbook of its name; there are no other runbooks', () => {
  expect(rules.map((rule) => rule.annotations.runbook_url)).toEqual(
    rules.map(({ alert }) => `docs/runbooks/${alert}.md`),
  )
  expect(new Set(rules.map((rule) => rule.labels.severity))).toEqual(new Set(['critical', 'warning']))
  expect(readdirSync(runbooks).sort()).toEqual(rules.map(({ alert }) => `${alert}.md`).sort())
})

test('no rule adds, compares or joins series of two installations: all keep cluster, namespace and release', () => {
  const careless = rules.flatMap(({ alert, expr }) =>
    [...expr.matchAll(/\b(?:sum|max|min|group|count|avg) ?(?:by )?\([^)]*|\bon \([^)]*/g)]
      .map(([whole]) => whole)
      .filter((whole) => !/^(?:\w+ by|on) \(cluster, namespace, release\b/.test(whole))
      .map((whole) => `${alert}: ${whole}`),
  )
  expect(careless).toEqual([])
  for (const { alert, expr } of rules)
    expect(`${alert}: ${expr}`).not.toMatch(/\bwithout\b|\bignoring\b|\babsent\(/)
})

test('rules and runbooks name only metrics and labels that services have', () => {
  for (const rule of rules) {
    expect({ alert: rule.alert, unknown: findUnknown(rule.expr) }).toEqual({ alert: rule.alert, unknown: [] })
    expect({ alert: rule.alert, unknown: findUnknown(pageOf(rule), true) }).toEqual({
      alert: rule.alert,
      unknown: [],
    })
  }
  expect(findUnknown('rate(sluice_nothing_total[5m])')).toEqual(['sluice_nothing_total'])
  expect(findUnknown('sum by (color) (sluice_erasures_open{size="1"})')).toEqual([
    'sluice_erasures_open{size}',
    'by (color)',
  ])
})

// A series that begins at 1 has no increase.
test('counters of alerts exist before their first increase, if their labels are known', () => {
  // Topics are known after the assignment; rules for these fire without a zero too.
  const later = ['sluice_kafka_skipped_records_total', 'sluice_kafka_records_total']
  const metrics = declaredMetrics()
  const missing = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/increase\((sluice_\w+)(?:\{(\w+)=~?"([^"]*)"\})?\[/g)].flatMap(
      ([, name = '', label = '', value = '']) => {
        const begun = metrics.get(name)?.begun ?? []
        if (later.includes(name) || (label === '' && begun.length > 0)) return []
        const unseen = value.split('|').filter((one) => !begun.some((labels) => labels[label] === one))
        return unseen.map((one) => `${name}{${label}="${one}"}`)
      },
    ),
  )
  expect(missing).toEqual([])
})

test('runbooks and docs/operations.md name only existing scripts, pages, variables and alerts', () => {
  // Variables and error codes.
  const reference = ['configuration.md', 'errors.md']
    .map((name) => readFileSync(join(root, 'docs', name), 'utf8'))
    .join('`NAME_FILE`')
  const sources = join(root, 'infra', 'grafana', 'provisioning', 'datasources')
  const grafana = readFileSync(join(sources, 'postgres.yml'), 'utf8')
  const alerts = new Set(rules.map(({ alert }) => alert))
  const operations = readFileSync(join(root, 'docs', 'operations.md'), 'utf8')
  const pages = [
    ...rules.map((rule) => [rule.alert, pageOf(rule)] as const),
    ['operations', operations] as const,
  ]
  for (const [name, page] of pages) {
    const named = (pattern: RegExp) => [...page.matchAll(pattern)].map(([whole]) => whole)
    const wrong = [
      ...named(
        /(?<!\/)\b(?:scripts\/[a-z]+(?:-[a-z]+)*|(?:docs|infra|schemas|evals|services)\/[\w./-]*\w)\b/g,
      ).filter((path) => !existsSync(join(root, path))),
      ...named(/(?<=`)[A-Z]+(?:_[A-Z]+)+(?=`)/g).filter(
        (one) => !reference.includes(`\`${one}\``) && !grafana.includes(`\${${one}}`),
      ),
      ...named(/\bSluice[A-Z][a-zA-Z]+\b/g).filter((alert) => !alerts.has(alert)),
    ]
    expect({ name, wrong }).toEqual({ name, wrong: [] })
  }
  for (const rule of rules)
    expect(pageOf(rule)).toMatch(/## How to look\n[^]+## What to do\n[^]+## When it is over\n/)
})

test('the queries of the runbooks run', async () => {
  const database = await createTestDatabase()
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    const queries = rules.flatMap((rule) =>
      [...pageOf(rule).matchAll(/```sql\n([^]+?)```/g)].map(([, sql = '']) => sql),
    )
    expect(queries.length).toBeGreaterThan(8)
    for (const sql of queries) await client.query(sql)
  } finally {
    await client.end()
    await database.drop()
  }
})

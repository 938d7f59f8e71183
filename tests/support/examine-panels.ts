import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, escapeIdentifier } from 'pg'
import { dashboards } from '#infra/grafana/all-dashboards.ts'
import { scopedTo } from '#infra/grafana/scope-query.ts'
import { randomName } from './infrastructure.ts'
import type { Prometheus } from './start-prometheus.ts'

const operations = join(import.meta.dirname, '..', '..', 'docs', 'operations.md')

/**
 * Panels whose queries return nothing, by dashboard and title. Grafana's variables become "All", ten
 * minutes and a day.
 */
export async function examinePanels(prometheus: Prometheus, databaseUrl: string): Promise<string[]> {
  const watcher = await connectWatcher(databaseUrl)
  try {
    const asked = dashboards.flatMap(({ name, rows }) =>
      rows.flatMap((row) =>
        row.panels.flatMap(({ title, ask }) =>
          ask.map((question) => ({ panel: `${name}: ${title}`, question })),
        ),
      ),
    )
    const empty: string[] = []
    for (const { panel, question } of asked) {
      const hasData =
        'sql' in question
          ? await hasRows(watcher.client, question.sql)
          : await hasSamples(prometheus, question.expr)
      if (!hasData) empty.push(`${panel}: ${'sql' in question ? 'no rows' : question.expr}`)
    }
    return empty
  } finally {
    await watcher.close()
  }
}

const fallback = ' or on () vector(0)'

/**
 * Whether the query has data. A zero line (`or vector(0)`) counts only if the metric has no series at all: a
 * wrong label value would show it too.
 */
async function hasSamples(prometheus: Prometheus, expr: string): Promise<boolean> {
  const all = scopedTo(expr).replaceAll(/\$(cluster|namespace|release)\b/g, '.*')
  const asked = all.replaceAll('$__rate_interval', '10m')
  const samples = await prometheus.query(asked.replace(fallback, ''))
  if (samples.some(({ value: [, value] }) => Number.isFinite(Number(value)))) return true
  if (!asked.endsWith(fallback)) return false
  const [metric] = /\bsluice_\w+/.exec(asked) ?? []
  // Without a metric it is ALERTS, Prometheus's own, which is usually empty.
  return metric === undefined || (await prometheus.query(metric)).length === 0
}

async function hasRows(client: Client, sql: string): Promise<boolean> {
  const { rows } = await client.query(
    sql.replaceAll(/\$__timeFilter\((\w+)\)/g, `$1 between now() - interval '1 day' and now()`),
  )
  return rows.length > 0
}

/** Connects by a login that the statements of docs/operations.md make for Grafana, under a random name. */
async function connectWatcher(databaseUrl: string): Promise<{ client: Client; close: () => Promise<void> }> {
  const [, grants = ''] =
    /```sql\n(create role sluice_watch[^]+?)```/.exec(readFileSync(operations, 'utf8')) ?? []
  const role = escapeIdentifier(randomName('watch'))
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(grants.replaceAll('sluice_watch', role))
  await client.query(`set role ${role}`)
  return {
    client,
    async close() {
      await client.query(`reset role; drop owned by ${role}; drop role ${role}`)
      await client.end()
    },
  }
}

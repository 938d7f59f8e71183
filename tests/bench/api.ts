import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { freePorts } from '#infra/embedded/free-port.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { filledDatabase, startKeptPostgres, type FilledDatabase } from '../support/filled-database.ts'
import { testInfrastructure } from '../support/infrastructure.ts'
import { operatorSecret } from '../support/start-api.ts'
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts'

/**
 * How long the API's answers take over HTTP with ten million calls (thirty million scores), against a hundred thousand. The first run fills the
 * databases, which takes half an hour and 20 GB; they stay in `--state` for the next.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '200' },
    state: { type: 'string', default: join(import.meta.dirname, '..', '..', '.cache', 'bench-api') },
    'fill-only': { type: 'boolean', default: false },
  },
})
const smallRows = 100_000
const dayMs = 86_400_000
const pageRows = 50

interface Target {
  api: ServiceProcess
  paths: Record<string, string>
  ask(path: string): Promise<number>
}

const stopInfrastructure = await openBenchmark()
const postgres = await startKeptPostgres(values.state)
const targets: Target[] = []
try {
  for (const rows of [smallRows, Number(values.rows)]) {
    const filled = await filledDatabase(postgres, rows, console.log)
    if (!values['fill-only']) targets.push(await startTarget(filled))
  }
  const [small, large] = targets
  if (small !== undefined && large !== undefined) report(await measure(small, large))
} finally {
  for (const { api } of targets) await api.stop()
  await postgres.stop()
  await stopInfrastructure()
}

async function startTarget(filled: FilledDatabase): Promise<Target> {
  const { brokers, registryUrl } = testInfrastructure()
  const [port, operationsPort] = (await freePorts(2)) as [number, number]
  const api = await startServiceProcess({
    name: 'api',
    operationsPort,
    logFile: join(values.state, `api-${filled.rows}.log`),
    environment: {
      DATABASE_URL: filled.url,
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      TOPIC_PREFIX: 'bench-api.',
      INTERNAL_API_SECRET: operatorSecret,
      API_HOST: '127.0.0.1',
      API_PORT: String(port),
      STATEMENT_TIMEOUT_MS: '120000',
    },
  })
  const baseUrl = `http://127.0.0.1:${port}`
  const made = await fetch(`${baseUrl}/api/projects/${filled.projectId}/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorSecret}` },
    body: JSON.stringify({ name: 'bench' }),
  })
  const { key } = (await made.json()) as { key: string }
  return { api, paths: await pathsOf(filled), ask: (path) => ask(baseUrl + path, key) }
}

/** Milliseconds until the answer was read. */
async function ask(url: string, key: string): Promise<number> {
  const startedAt = performance.now()
  const answer = await fetch(url, { headers: { 'x-service-key': key } })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${text}`)
  return performance.now() - startedAt
}

async function pathsOf(filled: FilledDatabase): Promise<Record<string, string>> {
  const { startMs, endMs } = filled
  const iso = (ms: number) => new Date(ms).toISOString()
  const day = `start=${iso(endMs - dayMs)}&end=${iso(endMs)}`
  const quarter = `start=${iso(endMs - 90 * dayMs)}&end=${iso(endMs)}`
  const middleMs = startMs + (endMs - startMs) / 2
  const known = await findKnown(filled)
  const filters = {
    'wide model': 'model=gpt-4o-mini',
    'narrow model': 'model=rare-model',
    'narrow provider': 'provider=rare-provider',
    agent: 'agent_name=agent-9',
    'narrow user': 'user_id=user-17',
    'narrow tool': 'tool_name=rare-tool',
    type: 'type=mcp_tool_call',
    session: `session_id=${known.session}`,
    'wide metadata': 'metadata.team=t3',
    'narrow metadata': 'metadata.ticket=17',
    unsafe: 'label=unsafe',
    critical: 'severity=critical',
    'unsafe of an agent': 'label=unsafe&agent_name=agent-9',
    'unsafe by scorer': 'scorer_name=pii_detection&label=unsafe',
    'an hour': `start=${iso(middleMs)}&end=${iso(middleMs + 3_600_000)}`,
  }
  return {
    'requests, first page': '/api/requests',
    'requests, page 1000': `/api/requests?cursor=${known.callCursor}`,
    ...Object.fromEntries(
      Object.entries(filters).map(([name, query]) => [`requests, ${name}`, `/api/requests?${query}`]),
    ),
    'one request': `/api/requests/${known.callId}`,
    'scores, first page': '/api/safety-scores',
    'scores, page 1000': `/api/safety-scores?cursor=${known.scoreCursor}`,
    'scores, unsafe': '/api/safety-scores?label=unsafe',
    'scores, from 4': '/api/safety-scores?min_score=4',
    'scores, unsafe of a scorer': '/api/safety-scores?label=unsafe&scorer_name=content_safety',
    'scores, poll': `/api/safety-scores?since=${known.pollCursor}`,
    'summary, a day': `/api/safety-scores/summary?${day}`,
    'summary, a quarter': `/api/safety-scores/summary?${quarter}`,
    'stats, a day': `/api/stats?${day}`,
    'stats, a quarter': `/api/stats?${quarter}`,
    'stats, a quarter by model': `/api/stats?${quarter}&by=model`,
    'facets, a month': '/api/requests/facets',
    'tools, a month': '/api/tools',
    'sessions, first page': '/api/sessions',
    'sessions, deep': `/api/sessions?cursor=${known.callCursor}`,
    'one session': `/api/sessions/${known.session}`,
  }
}

/** Cursors and identifiers to ask for: as far behind the newest as page 1,000 begins. */
async function findKnown({ url, projectId }: FilledDatabase) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const one = async (sql: string): Promise<string> => {
    const { rows } = await client.query<{ found: string }>(sql, [idToUuid(projectId)])
    return rows[0]?.found ?? ''
  }
  const newest = 'where project_id = $1 order by'
  const behind = `offset ${999 * pageRows} limit 1`
  const call = await one(`select id as found from llm_requests ${newest} created_at desc, id desc ${behind}`)
  const score = await one(
    `select id as found from safety_scores ${newest} request_created_at desc, id desc ${behind}`,
  )
  const withBody = await one(
    `select request_id as found from llm_request_bodies where project_id = $1 limit 1`,
  )
  const session = await one(
    `select session_id as found from llm_requests where project_id = $1 and session_id is not null limit 1`,
  )
  const xid = await one(
    `select max(stored_xid::text::bigint) - 1 as found from safety_scores where project_id = $1 and request_created_at > now() - interval '3 days'`,
  )
  await client.end()
  const cursor = (text: string) => Buffer.from(text).toString('base64url')
  return {
    session,
    callId: idFromUuid('request', withBody),
    callCursor: cursor(idFromUuid('request', call)),
    scoreCursor: cursor(idFromUuid('score', score)),
    pollCursor: cursor(xid),
  }
}

interface Measured {
  name: string
  small: number[]
  large: number[]
}

/** Turn and turn about, so that whatever else the machine does befalls both. */
async function measure(small: Target, large: Target): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const [name, path] of Object.entries(large.paths)) {
    const of = { name, small: [] as number[], large: [] as number[] }
    const smallPath = small.paths[name] ?? path
    for (let round = -10; round < Number(values.rounds); round++) {
      const [smallMs, largeMs] = [await small.ask(smallPath), await large.ask(path)]
      if (round < 0) continue
      of.small.push(smallMs)
      of.large.push(largeMs)
    }
    measured.push(of)
  }
  return measured
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

function report(measured: readonly Measured[]): void {
  const lines = measured.map(({ name, small, large }) => {
    const [smallP99, largeP99] = [quantile(small, 0.99), quantile(large, 0.99)]
    return {
      name,
      'p50 small': quantile(small, 0.5),
      'p50 large': quantile(large, 0.5),
      'p99 small': smallP99,
      'p99 large': largeP99,
      'p50 ratio': quantile(large, 0.5) / quantile(small, 0.5),
      'p99 ratio': largeP99 / smallP99,
    }
  })
  console.table(
    Object.fromEntries(
      lines.map(({ name, ...times }) => [
        name,
        Object.fromEntries(Object.entries(times).map(([column, ms]) => [column, ratio(ms, 1)])),
      ]),
    ),
  )
  const worst = Math.max(...lines.map((line) => line['p99 ratio']))
  const perRoute = lines.map((line) => [
    `${line.name.replaceAll(/\W+/g, '_')}_p99_ms`,
    ratio(line['p99 large'], 1),
  ])
  printFigures('api', {
    p99_ratio_worst: ratio(worst, 1),
    ...(Object.fromEntries(perRoute) as Record<string, number>),
  })
}

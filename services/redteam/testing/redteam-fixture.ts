import type { Pool } from 'pg'
import { pino } from 'pino'
import { systemClock, type Clock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createMetrics } from '#runtime/metrics.ts'
import type { Service } from '#runtime/service.ts'
import { apiConfigSchema } from '#services/api/config.ts'
import { createApi } from '#services/api/service.ts'
import { scorerConfig } from '#services/scorer/config.ts'
import { createScorer } from '#services/scorer/service.ts'
import { sinkConfig } from '#services/sink/config.ts'
import { createSink } from '#services/sink/service.ts'
import { startMockJudge } from '#tests/support/mock-judge.ts'
import { startServiceFixture } from '#tests/support/service-fixture.ts'
import { startWithUndo, type Undo } from '#tests/support/undo.ts'
import { redteamConfig } from '../config.ts'
import { createRedteam } from '../service.ts'

const secret = 'an-operator-secret-for-tests'
/** Logs nothing, and drops the lines of scores. */
const quiet = pino({ level: 'silent' }, { write: () => undefined })

export interface ApiAnswer {
  status: number
  text: string
  json: Record<string, unknown>
}

/**
 * An attempt's surroundings except the target: API, sink and scorer in this process, a mock judge, on real
 * parts.
 */
export interface RedteamFixture {
  pool: Pool
  /** Environment of the red team. */
  environment: Readonly<Record<string, string>>
  call(method: string, path: string, body?: unknown, key?: string): Promise<ApiAnswer>
  createProject(settings?: object): Promise<{ id: string; key: string }>
  /** A red team in this process, stopped with the fixture at the latest. */
  startRedteam(changes?: Readonly<Record<string, string>>, clock?: Clock): Promise<Service>
  /** After this, queued calls are not judged. */
  stopScorer(): Promise<void>
  close(): Promise<void>
}

interface RedteamFixtureOptions {
  /** False: without sink and scorer, so records wait in their topic and runs for their scores. */
  judged?: boolean
  /** Variables added to the API's. */
  apiEnvironment?: Readonly<Record<string, string>>
}

export async function setRedteamFixture(options: RedteamFixtureOptions = {}): Promise<RedteamFixture> {
  const { stop: close, ...fixture } = await startWithUndo((undo) => setFixture(undo, options))
  return { ...fixture, close }
}

async function setFixture(
  undo: Undo,
  { judged = true, apiEnvironment = {} }: RedteamFixtureOptions,
): Promise<Omit<RedteamFixture, 'close'>> {
  const { pool, environment: shared } = await startParts(undo)
  const start = async <T extends Service>(service: T): Promise<T> => {
    undo.push(() => service.stop())
    await service.start()
    return service
  }
  const dependencies = () => ({ log: quiet, metrics: createMetrics(), clock: systemClock })
  const ofApi = { ...shared, API_HOST: '127.0.0.1', API_PORT: '0', DRAIN_LEAD_MS: '0', ...apiEnvironment }
  const api = await start(createApi(configOf(parseConfig(apiConfigSchema, ofApi)), dependencies()))
  const scorer = createScorer(configOf(parseConfig(scorerConfig, shared)), dependencies())
  if (judged)
    await Promise.all([
      start(createSink(configOf(parseConfig(sinkConfig, shared)), dependencies())),
      start(scorer),
    ])
  const baseUrl = `http://127.0.0.1:${api.port()}`
  const call = callTo(baseUrl)
  const quick = { REDTEAM_POLL_INTERVAL_MS: '100', REDTEAM_LEASE_MS: '5000' }
  const environment = { ...shared, ...quick, API_BACKEND_URL: baseUrl }
  return {
    pool,
    environment,
    call,
    async createProject(settings = {}) {
      const project = await call('POST', '/api/projects', { name: 'test', ...settings })
      const id = String(project.json['id'])
      const key = await call('POST', `/api/projects/${id}/keys`, { name: 'test' })
      return { id, key: String(key.json['key']) }
    },
    startRedteam: (changes = {}, clock = systemClock) =>
      start(
        createRedteam(configOf(parseConfig(redteamConfig, { ...environment, ...changes })), {
          ...dependencies(),
          clock,
        }),
      ),
    stopScorer: () => scorer.stop(),
  }
}

/** Topics, schemas, a database and a judge, with the environment of services. */
async function startParts(undo: Undo) {
  const { pool, environment, close } = await startServiceFixture('redteam')
  undo.push(close)
  const judge = await startMockJudge()
  undo.push(() => judge.stop())
  return {
    pool,
    environment: {
      ...environment,
      BODY_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 5).toString('base64')}`,
      INTERNAL_API_SECRET: secret,
      OPENAI_BASE_URL: judge.url,
      OPENAI_API_KEY: 'not-checked',
      LOG_LEVEL: 'silent',
    },
  }
}

function configOf<T>(parsed: { ok: true; value: T } | { ok: false; problems: readonly string[] }): T {
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  return parsed.value
}

function callTo(baseUrl: string): RedteamFixture['call'] {
  return async (method, path, body, key) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: key === undefined ? { authorization: `Bearer ${secret}` } : { 'x-service-key': key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return {
      status: response.status,
      text,
      json: (isJson ? JSON.parse(text) : {}) as Record<string, unknown>,
    }
  }
}

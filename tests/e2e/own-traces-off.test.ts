import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { until } from '../support/until.ts'

const root = join(import.meta.dirname, '..', '..')
const nowhere = 'http://127.0.0.1:1'

/** Starts a service whose neighbours are all away, ends it, and returns what it had loaded. */
async function loadedBy(name: string, endpoint: string | undefined): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-loaded-'))
  const [opsPort = 0, port = 0] = await freePorts(2)
  const service = spawn(
    process.execPath,
    [
      ...['--import', join(root, 'tests', 'support', 'list-loaded-process.ts')],
      join(root, 'services', name, 'main.ts'),
    ],
    {
      env: {
        ...programEnvironment(),
        ...{ OPS_PORT: String(opsPort), DRAIN_LEAD_MS: '0', DRAIN_DEADLINE_MS: '1000', LOG_LEVEL: 'silent' },
        ...{ KAFKA_BROKERS: '127.0.0.1:1', SCHEMA_REGISTRY_URL: nowhere },
        ...{ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing', INGEST_PORT: String(port) },
        ...{ GATEWAY_HOST: '127.0.0.1', GATEWAY_PORT: String(port), PROXY_API_KEY: 'proxy' },
        ...{ UPSTREAM_URL: nowhere, API_BACKEND_URL: nowhere, SERVICE_API_KEY: 'svc_test' },
        ...{ SPOOL_DIR: join(directory, 'spool'), API_PORT: String(port) },
        ...(endpoint !== undefined && { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let output = ''
  service.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise((resolve) => service.once('close', resolve))
  const isHealthy = async () =>
    service.exitCode !== null ||
    (await fetch(`http://127.0.0.1:${opsPort}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  try {
    await until(isHealthy, 60_000, () => Promise.resolve(output))
  } finally {
    service.kill('SIGTERM')
    await ended
    await rm(directory, { recursive: true, force: true })
  }
  const [, list] = /^loaded:(.*)$/m.exec(output) ?? []
  if (list === undefined) throw new Error(`${name} did not say what it had loaded: ${output}`)
  return JSON.parse(list) as string[]
}

test.each(['api', 'gateway', 'ingest', 'sink', 'scorer', 'notifier'])(
  "without OTEL_EXPORTER_OTLP_ENDPOINT %s loads neither OpenTelemetry's SDK nor its exporter",
  async (name) => {
    // prom-client loads the API.
    expect(await loadedBy(name, undefined)).toEqual(['@opentelemetry/api'])
  },
)

test('with it, they are loaded', async () => {
  expect(await loadedBy('gateway', nowhere)).toEqual(
    expect.arrayContaining([
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-proto',
      '@opentelemetry/sdk-trace',
    ]),
  )
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics, type Metrics } from '#runtime/metrics.ts'
import { gatewayConfigSchema } from '#services/gateway/config.ts'
import { createGateway, type Gateway } from '#services/gateway/service.ts'

export const proxyKey = 'a-proxy-key'

export interface RunningGateway {
  url: string
  port: number
  gateway: Gateway
  metrics: Metrics
  spoolDirectory: string
  stop(): Promise<void>
}

/** The gateway in this process, with its own spool unless `SPOOL_DIR` is given. */
export async function startGateway(environment: Record<string, string>): Promise<RunningGateway> {
  const own =
    environment['SPOOL_DIR'] === undefined ? await mkdtemp(join(tmpdir(), 'sluice-spool-')) : undefined
  const spoolDirectory = environment['SPOOL_DIR'] ?? own ?? ''
  const parsed = parseConfig(gatewayConfigSchema, {
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    DRAIN_LEAD_MS: '0',
    PROXY_API_KEY: `another-key, ${proxyKey}`,
    API_BACKEND_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'svc_test',
    SPOOL_KEY: Buffer.alloc(32, 9).toString('base64'),
    SPOOL_DIR: spoolDirectory,
    ...environment,
  })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const metrics = createMetrics()
  const log = createLog('gateway-test', 'silent')
  const gateway = createGateway(parsed.value, { log, metrics, clock: systemClock, environment })
  await gateway.start()
  const port = gateway.port()
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    gateway,
    metrics,
    spoolDirectory,
    async stop() {
      await gateway.stop()
      if (own !== undefined) await rm(own, { recursive: true })
    },
  }
}

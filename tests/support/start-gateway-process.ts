import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import { services } from '#schemas/services.ts'
import { startServiceProcess, type ServiceProcess } from './service-process.ts'
import { proxyKey } from './start-gateway.ts'

export interface GatewayProcess extends ServiceProcess {
  readonly url: string
}

/**
 * The gateway in its own process between a provider and a receiver of records. `directory` has its log and
 * spool.
 */
export async function startGatewayProcess(options: {
  directory: string
  providerUrl: string
  receiverUrl: string
  /** Overrides and additions. */
  environment?: Readonly<Record<string, string>>
}): Promise<GatewayProcess> {
  const { directory, providerUrl, receiverUrl, environment } = options
  const [port, operationsPort] = (await freePorts(2)) as [number, number]
  const process = await startServiceProcess({
    name: 'gateway',
    operationsPort,
    logFile: join(directory, 'gateway.log'),
    environment: {
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      UPSTREAM_URL: providerUrl,
      PROXY_API_KEY: proxyKey,
      API_BACKEND_URL: receiverUrl,
      SERVICE_API_KEY: 'svc_test',
      SPOOL_DIR: join(directory, 'spool'),
      ...services.gateway.environment,
      ...environment,
    },
  })
  return { ...process, url: `http://127.0.0.1:${port}` }
}

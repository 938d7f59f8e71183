import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import { services } from '#schemas/services.ts'
import { startServiceProcess, type ServiceProcess } from './service-process.ts'
import { proxyKey } from './start-gateway.ts'

export interface GatewayProcess extends ServiceProcess {
  readonly url: string
}

/** The gateway as a process of its own between a provider and a receiver of records, with its log and its spool in `directory`. */
export async function startGatewayProcess(options: {
  directory: string
  providerUrl: string
  receiverUrl: string
  /** Besides what it needs, or in place of it. */
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

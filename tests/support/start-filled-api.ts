import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { FilledDatabase } from './filled-database.ts'
import { testInfrastructure } from './infrastructure.ts'
import { startServiceProcess, type ServiceProcess } from './service-process.ts'
import { operatorSecret } from './start-api.ts'

export interface FilledApi {
  baseUrl: string
  api: ServiceProcess
}

/** The API in its own process, on a filled database. Its log goes to `directory`. */
export async function startFilledApi(filled: FilledDatabase, directory: string): Promise<FilledApi> {
  const { brokers, registryUrl } = testInfrastructure()
  const [port, operationsPort] = (await freePorts(2)) as [number, number]
  const api = await startServiceProcess({
    name: 'api',
    operationsPort,
    logFile: join(directory, `api-${filled.rows}.log`),
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
  return { api, baseUrl: `http://127.0.0.1:${port}` }
}

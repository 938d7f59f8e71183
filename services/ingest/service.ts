import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createHttpService, type HttpService } from '#http/http-service.ts'
import { createIngestCore } from './ingest-core.ts'
import type { IngestConfig } from './config.ts'

/** Ingest as its own process. */
export function createIngest(config: IngestConfig, dependencies: ProcessDependencies): HttpService {
  const core = createIngestCore(config, { ...dependencies, name: 'ingest' })
  return createHttpService({
    core,
    routes: core.routes,
    host: config.INGEST_HOST,
    port: config.INGEST_PORT,
    leadMs: config.DRAIN_LEAD_MS,
    ...dependencies,
  })
}

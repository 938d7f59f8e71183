import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createHttpService, type HttpService } from '#services/ingest/http/http-service.ts'
import type { Route } from '#services/ingest/http/route.ts'
import { createIngestCore, type IngestCore } from '#services/ingest/ingest-core.ts'
import type { ApiConfig } from './config.ts'
import { keyRoutes } from './routes/key-routes.ts'
import { projectRoutes } from './routes/project-routes.ts'
import { createKeyAdminStore } from './stores/key-admin-store.ts'
import { createProjectStore } from './stores/project-store.ts'

/** The API, with ingest's routes mounted in it. */
export function createApi(config: ApiConfig, dependencies: ProcessDependencies): HttpService {
  const core = createIngestCore(config, { ...dependencies, name: 'api' })
  return createHttpService({
    core,
    routes: [...core.routes, ...apiRoutes(config, core, dependencies)],
    host: config.API_HOST,
    port: config.API_PORT,
    ...dependencies,
  })
}

function apiRoutes(config: ApiConfig, core: IngestCore, { clock }: ProcessDependencies): Route[] {
  const projects = createProjectStore(core.pool)
  const defaultTier = config.DEFAULT_TIER ?? (config.STRIPE_API_KEY === undefined ? 'enterprise' : 'free')
  return [
    ...projectRoutes({ projects, defaultTier, clock }),
    ...keyRoutes({ projects, keys: createKeyAdminStore(core.pool), directory: core.keys, clock }),
  ]
}

import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { measureCertificates } from '#runtime/certificate-expiry.ts'
import { createTraceLosses } from '#runtime/tracing/trace-losses.ts'
import { apiConfigSchema } from '#services/api/config.ts'
import { createApi } from '#services/api/service.ts'
import { dashboardConfigSchema } from '#services/dashboard/config.ts'
import { createDashboard } from '#services/dashboard/service.ts'
import { gatewayConfigSchema } from '#services/gateway/config.ts'
import { createGateway } from '#services/gateway/service.ts'
import { createWorkerPool } from '#services/gateway/workers/worker-pool.ts'
import { ingestConfigSchema } from '#services/ingest/config.ts'
import { createIngest } from '#services/ingest/service.ts'
import { notifierConfig } from '#services/notifier/config.ts'
import { createNotifier } from '#services/notifier/service.ts'
import { redteamConfig } from '#services/redteam/config.ts'
import { createRedteam } from '#services/redteam/service.ts'
import { scorerConfig } from '#services/scorer/config.ts'
import { createScorer } from '#services/scorer/service.ts'
import { sinkConfig } from '#services/sink/config.ts'
import { createSink } from '#services/sink/service.ts'
import type { z } from 'zod'

export interface DeclaredMetric {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram' | 'summary'
  labels: readonly string[]
  services: string[]
  /** Labels of the series that exist from the start. */
  begun: readonly Readonly<Record<string, string>>[]
}

// None of these is reached: services are created and never started.
const environment = {
  KAFKA_BROKERS: 'localhost:1',
  SCHEMA_REGISTRY_URL: 'http://localhost:1',
  DATABASE_URL: 'postgres://nobody@localhost:1/nothing',
  INTERNAL_API_SECRET: 'a-secret-that-is-long-enough',
  PROXY_API_KEY: 'proxy',
  UPSTREAM_URL: 'http://localhost:1',
  API_BACKEND_URL: 'http://localhost:1',
  SERVICE_API_KEY: 'svc_000000000000000000000000000000000000000000000000',
  SPOOL_DIR: '/nonexistent',
}

/**
 * How to create each service. One that is missing here is missing in docs/metrics.md, and alerts cannot use
 * its metrics.
 */
export const makers: Readonly<Record<string, (dependencies: ProcessDependencies) => void>> = {
  api: (dependencies) => createApi(read(apiConfigSchema), dependencies),
  ingest: (dependencies) => createIngest(read(ingestConfigSchema), dependencies),
  dashboard: (dependencies) =>
    createDashboard(read(dashboardConfigSchema), { ...dependencies, print: unreachable }),
  gateway: (dependencies) => {
    createGateway(read(gatewayConfigSchema), dependencies)
    createWorkerPool(2, () => unreachable(), dependencies)
  },
  sink: (dependencies) => createSink(read(sinkConfig), dependencies),
  scorer: (dependencies) => createScorer(read(scorerConfig), dependencies),
  redteam: (dependencies) => createRedteam(read(redteamConfig), dependencies),
  notifier: (dependencies) => createNotifier(read(notifierConfig), dependencies),
}

/** The services that export traces of their own, where they are configured to. */
const traced = new Set(['api', 'gateway', 'ingest', 'notifier', 'scorer', 'sink'])

/** All metrics that services declare on creation, by name, with prom-client's own for Node. */
export function declaredMetrics(): ReadonlyMap<string, DeclaredMetric> {
  const declared = new Map<string, DeclaredMetric>()
  for (const [service, make] of Object.entries(makers)) {
    const metrics = createMetrics({ processMetrics: true })
    const log = createLog('test', 'silent')
    measureCertificates({}, { metrics, log })
    if (traced.has(service)) createTraceLosses(metrics)
    make({ log, metrics, clock: systemClock })
    for (const metric of metrics.registry.getMetricsAsArray()) {
      const described = describe(metric)
      const known = declared.get(described.name) ?? { ...described, services: [] }
      known.services.push(service)
      declared.set(known.name, known)
    }
  }
  return declared
}

/** prom-client has these at run time, but not in its types. */
function describe(metric: object) {
  const { name, help, labelNames, hashMap } = metric as {
    name: string
    help: string
    labelNames?: string[]
    hashMap: Record<string, { labels: Record<string, string> }>
  }
  const type = metric.constructor.name.toLowerCase() as DeclaredMetric['type']
  const begun = Object.values(hashMap).map((series) => series.labels)
  return { name, help, type, labels: labelNames ?? [], begun }
}

function read<S extends z.ZodObject>(schema: S): z.output<S> {
  const parsed = parseConfig(schema, environment)
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  return parsed.value
}

function unreachable(): never {
  throw new Error('a worker was started')
}

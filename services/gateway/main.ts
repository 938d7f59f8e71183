import cluster from 'node:cluster'
import { runProcess, type ProcessDependencies } from '#runtime/run-process.ts'
import { gatewayConfigSchema, type GatewayConfig } from './config.ts'
import { returnMemoryWhenIdle } from './return-memory.ts'
import { createGateway } from './service.ts'
import { tuneCollector } from './tune-collector.ts'
import { createWorkerMetrics } from './workers/worker-metrics.ts'
import { createWorkerPool } from './workers/worker-pool.ts'
import type { WorkerOrder } from './workers/worker-report.ts'
import { createWorker, type ParentLine } from './workers/worker.ts'

/** Tells a worker its number. */
const workerVariable = 'SLUICE_GATEWAY_WORKER'

const parent: ParentLine = {
  send: (report) =>
    new Promise((resolve, reject) => {
      process.send?.(report, undefined, {}, (error) => (error === null ? resolve() : reject(error)))
    }),
  onOrder: (handle) => process.on('message', (order: WorkerOrder) => handle(order)),
}

function createAlone(config: GatewayConfig, dependencies: ProcessDependencies) {
  const { GATEWAY_WORKERS: count } = config
  if (count === 1) {
    createWorkerMetrics(dependencies.metrics).living.set(1)
    return createGateway(config, { ...dependencies, environment: process.env })
  }
  return createWorkerPool(count, (worker) => cluster.fork({ [workerVariable]: String(worker) }), dependencies)
}

tuneCollector()
returnMemoryWhenIdle()
process.exit(
  await runProcess({
    name: 'gateway',
    schema: gatewayConfigSchema,
    environment: process.env,
    create: cluster.isPrimary
      ? createAlone
      : (config, dependencies) =>
          createWorker(
            config,
            { ...dependencies, environment: process.env, worker: Number(process.env[workerVariable]) },
            parent,
          ),
    servesOperations: cluster.isPrimary,
  }),
)

import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { Service } from '#runtime/service.ts'
import type { GatewayConfig } from '../config.ts'
import { createGateway } from '../service.ts'
import { readMetrics, reportEveryMs, type WorkerOrder, type WorkerReport } from './worker-report.ts'

/** The channel to the parent process. */
export interface ParentLine {
  send(report: WorkerReport): Promise<void>
  onOrder(handle: (order: WorkerOrder) => void): void
}

/** One of the gateway's processes: reports its health and metrics, and stops on order. */
export function createWorker(
  config: GatewayConfig,
  dependencies: ProcessDependencies & { worker: number; environment: NodeJS.ProcessEnv },
  parent: ParentLine,
): Service {
  const { metrics, log } = dependencies
  const gateway = createGateway(shareOf(config), dependencies)
  let timer: NodeJS.Timeout | undefined
  const report = async () => {
    try {
      await parent.send({ kind: 'report', health: gateway.health(), metrics: await readMetrics(metrics) })
    } catch (error) {
      // The channel closes when the parent ends, and this process with it.
      log.warn({ err: error }, 'the worker cannot report')
    }
  }
  const stop = async () => {
    clearInterval(timer)
    await gateway.stop()
    await report()
  }
  let stopped: Promise<void> | undefined
  const stopOnce = () => (stopped ??= stop())
  return {
    async start() {
      parent.onOrder(() => void stopOnce())
      await gateway.start()
      await report()
      timer = setInterval(() => void report(), reportEveryMs).unref()
    },
    stop: stopOnce,
    health: () => gateway.health(),
    // The last report is sent before the process ends.
    done: gateway.done.then(() => stopOnce()),
  }
}

/** Divides the limits that apply to all workers together. */
function shareOf(config: GatewayConfig): GatewayConfig {
  const { GATEWAY_WORKERS: workers } = config
  return {
    ...config,
    GATEWAY_MAX_CONNECTIONS: Math.ceil(config.GATEWAY_MAX_CONNECTIONS / workers),
    UPSTREAM_CONNECTIONS: Math.ceil(config.UPSTREAM_CONNECTIONS / workers),
    UPSTREAM_MAX_WAITING: Math.ceil(config.UPSTREAM_MAX_WAITING / workers),
    CAPTURE_TOTAL_MAX_BYTES: Math.floor(config.CAPTURE_TOTAL_MAX_BYTES / workers),
    SPOOL_MAX_BYTES: Math.floor(config.SPOOL_MAX_BYTES / workers),
  }
}

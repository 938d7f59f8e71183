import type { z } from 'zod'
import { measureCertificates } from './certificate-expiry.ts'
import { systemClock, type Clock } from './clock.ts'
import { parseConfig, type Environment, type processFields } from './config.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { startOperationsServer, type OperationsServer } from './operations-server.ts'
import type { Service } from './service.ts'
import { openTracing } from './tracing/open-tracing.ts'
import type { Tracing } from './tracing/tracing.ts'
import type { TracingConfig } from './tracing/tracing-fields.ts'

export interface ProcessDependencies {
  log: Log
  metrics: Metrics
  clock: Clock
  /** Absent: the process exports no traces. */
  tracing?: Tracing | undefined
}

type ProcessSchema = z.ZodObject<typeof processFields & { OPS_PORT: z.ZodType<number> }>

export interface ProcessOptions<S extends ProcessSchema> {
  /** The service's name in logs. */
  name: string
  schema: S
  environment: Environment
  create: (config: z.output<S>, dependencies: ProcessDependencies) => Service
  /** Awaited before the service starts, unless a signal comes first. Its error ends the process. */
  prepare?: (config: z.output<S>, log: Log) => Promise<void>
  /** False: the parent process serves /healthz, /readyz and /metrics for it. */
  servesOperations?: boolean
}

/**
 * Runs one service until SIGTERM, SIGINT or its own end, and resolves with the exit code: 0 stopped as
 * requested, 1 failed or not drained within DRAIN_DEADLINE_MS, 2 invalid configuration. A second signal ends
 * the wait.
 */
export async function runProcess<S extends ProcessSchema>(options: ProcessOptions<S>): Promise<number> {
  const parsed = parseConfig(options.schema, options.environment)
  if (!parsed.ok) {
    process.stderr.write(
      `${options.name}: the configuration is wrong\n${parsed.problems.map((line) => `  ${line}\n`).join('')}`,
    )
    return 2
  }
  const config = parsed.value
  const { LOG_LEVEL, OPS_HOST, OPS_PORT, DRAIN_DEADLINE_MS } = config as z.output<ProcessSchema>
  const log = createLog(options.name, LOG_LEVEL)
  const metrics = createMetrics({ processMetrics: true })
  measureCertificates(config, { metrics, log })
  let operations: OperationsServer | undefined
  const signals = listenForSignals(log)
  try {
    const tracing = await openTracing(config as Partial<TracingConfig>, { name: options.name, log, metrics })
    const service = options.create(config, { log, metrics, clock: systemClock, tracing })
    if (options.servesOperations !== false)
      operations = await startOperationsServer({
        host: OPS_HOST,
        port: OPS_PORT,
        health: () => service.health(),
        metrics,
        metricsText: service.metrics?.bind(service),
        log,
      })
    await Promise.race([options.prepare?.(config, log), signals.first])
    return await runUntilSignal({ service, tracing, signals, deadlineMs: DRAIN_DEADLINE_MS, log })
  } catch (error) {
    log.fatal({ err: error }, 'the process cannot go on')
    return 1
  } finally {
    signals.dispose()
    await operations?.close()
  }
}

/** The most that a drained process still waits for the export of its traces, within its deadline. */
const lastExportMs = 3_000

interface Run {
  service: Service
  tracing: Tracing | undefined
  signals: Signals
  deadlineMs: number
  log: Log
}

async function runUntilSignal({ service, tracing, signals, deadlineMs, log }: Run): Promise<number> {
  const failed = await untilSignalOrEnd(service, signals, log).then(
    () => false,
    (error: unknown) => {
      log.fatal({ err: error }, 'the process cannot go on')
      return true
    },
  )
  log.info('stopping')
  const endsAtMs = systemClock.now() + deadlineMs
  const deadline = new AbortController()
  const overdue = systemClock.sleep(deadlineMs, deadline.signal).then(() => 'overdue' as const)
  const outcome = await Promise.race([service.stop().then(() => 'drained' as const), overdue, signals.second])
  deadline.abort()
  const leftMs = Math.max(0, endsAtMs - systemClock.now())
  if (outcome === 'drained')
    await Promise.race([tracing?.close(Math.min(leftMs, lastExportMs)), signals.second])
  log[outcome === 'drained' ? 'info' : 'error']({ outcome }, 'stopped')
  return outcome === 'drained' && !failed ? 0 : 1
}

async function untilSignalOrEnd(service: Service, signals: Signals, log: Log): Promise<void> {
  const ended = service.done.then(() => 'ended' as const)
  const started = service.start().then(() => 'started' as const)
  // The one that is no longer awaited must not be reported as unhandled; the other's failure has been seen by
  // then.
  for (const promise of [ended, started]) promise.catch(() => undefined)
  if ((await Promise.race([started, ended, signals.first])) === 'started') {
    log.info('started')
    await Promise.race([ended, signals.first])
  }
}

interface Signals {
  first: Promise<'signal'>
  second: Promise<'second signal'>
  dispose(): void
}

function listenForSignals(log: Log): Signals {
  const first = Promise.withResolvers<'signal'>()
  const second = Promise.withResolvers<'second signal'>()
  let count = 0
  const onSignal = (signal: NodeJS.Signals) => {
    log.info({ signal }, 'signal received')
    if (++count === 1) first.resolve('signal')
    else second.resolve('second signal')
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return {
    first: first.promise,
    second: second.promise,
    dispose() {
      process.removeListener('SIGTERM', onSignal)
      process.removeListener('SIGINT', onSignal)
    },
  }
}

import { join } from 'node:path'
import { awaitReady } from '#infra/embedded/await-ready.ts'
import { startGuarded } from '#infra/embedded/guarded-process.ts'
import type { ServicePlan } from './plan-services.ts'
import { rotateLog } from './state-directory.ts'
import type { StartedProcess } from './supervise-process.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** How long a service may do nothing at its first start. Log lines do not count as work. */
const FIRST_PATIENCE_MS = 120_000
/** Slightly more than the services' own DRAIN_DEADLINE_MS. */
const STOP_DEADLINE_MS = 28_000

/**
 * Returns the function that starts a service. Its first start ends after two minutes without work; a
 * restarted one may wait for its parts for ever.
 */
export function serviceStarter(plan: ServicePlan, logFile: string): () => Promise<StartedProcess> {
  let starts = 0
  return async () => {
    await rotateLog(logFile)
    const service = await startGuarded({
      command: process.execPath,
      args: [join(ROOT, plan.script)],
      cwd: ROOT,
      env: { ...plan.environment },
      logFile,
      stopDeadlineMs: STOP_DEADLINE_MS,
    })
    const patienceMs = starts++ === 0 ? FIRST_PATIENCE_MS : Number.POSITIVE_INFINITY
    const ready = awaitReady({
      name: plan.name,
      probe: () => assertOk(plan.readyUrl),
      process: service,
      logFile,
      patienceMs,
      logCounts: false,
    })
    return { ...service, ready }
  }
}

async function assertOk(url: string): Promise<void> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2000) })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`)
}

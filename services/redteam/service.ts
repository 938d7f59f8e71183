import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPriceTable } from '#capture/price-table.ts'
import { parsePrices } from '#capture/record/parse-prices.ts'
import { SluiceError } from '#runtime/errors.ts'
import { createPool } from '#runtime/postgres.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createSealer } from '#runtime/sealing.ts'
import type { Health, Service } from '#runtime/service.ts'
import { redteamMarkSecret } from '#schemas/redteam-mark.ts'
import { createAdaptiveAttacker } from './attacks/adaptive-attacker.ts'
import type { RedteamConfig } from './config.ts'
import { ownProbesFolder, readProbes } from './probes/read-probes.ts'
import { openRecorded } from './interchange/open-recorded.ts'
import { carryOutRun, type CarryDependencies } from './running/carry-out-run.ts'
import { createIngestClient } from './stores/ingest-client.ts'
import { createRunStore } from './stores/run-store.ts'
import { openTarget } from './targets/open-target.ts'

const listFile = join(import.meta.dirname, '..', '..', 'infra', 'prices.json')
const [firstPauseMs, longestPauseMs] = [500, 10_000]

/** Runs red-team runs one after the other, or only the given one. */
export function createRedteam(config: RedteamConfig, dependencies: ProcessDependencies): Service {
  const { log, metrics } = dependencies
  const pool = createPool(config, { log, metrics, applicationName: 'redteam' })
  const ingest = createIngestClient({
    baseUrl: config.API_BACKEND_URL,
    secret: config.INTERNAL_API_SECRET,
    timeoutMs: 30_000,
  })
  const carry = carryDependencies(config, dependencies, pool, ingest.log)
  const stopping = new AbortController()
  const finished = Promise.withResolvers<undefined>()
  let status: Health['status'] = 'starting'
  let problem: string | undefined
  let loop: Promise<void> | undefined

  return {
    done: finished.promise,
    start() {
      status = 'ok'
      loop ??= carryRuns(config, carry, stopping, (told) => (problem = told))
      loop.then(
        () => finished.resolve(undefined),
        (error: unknown) => {
          status = 'failed'
          finished.reject(error)
        },
      )
      return Promise.resolve()
    },
    async stop() {
      if (status !== 'failed') status = 'stopping'
      stopping.abort()
      await loop?.catch(() => undefined)
      await ingest.close()
      if (!pool.ended) await pool.end()
      finished.resolve(undefined)
    },
    health: () => ({
      status: status === 'ok' && problem !== undefined ? 'degraded' : status,
      ...(problem === undefined ? {} : { problems: { runs: problem } }),
    }),
  }
}

/** Runs several at once. One that cannot go on ends all, and the others release their attempts. */
async function carryRuns(
  config: RedteamConfig,
  carry: CarryDependencies,
  stopping: AbortController,
  onProblem: (problem: string | undefined) => void,
): Promise<void> {
  const only = config.REDTEAM_RUN_ID
  const carriers = Array.from({ length: only === undefined ? config.REDTEAM_RUNS_AT_ONCE : 1 }, () =>
    carryOneByOne(config, carry, stopping.signal, onProblem).catch((error: unknown) => {
      stopping.abort()
      throw error
    }),
  )
  await Promise.allSettled(carriers)
  await Promise.all(carriers)
}

/** Runs until the process stops, or the given run is over. */
async function carryOneByOne(
  { REDTEAM_RUN_ID: only, REDTEAM_POLL_INTERVAL_MS: pollIntervalMs }: RedteamConfig,
  carry: CarryDependencies,
  stopping: AbortSignal,
  onProblem: (problem: string | undefined) => void,
): Promise<void> {
  const { runs, log, clock } = carry
  for (let failures = 0; !stopping.aborted;) {
    try {
      const run = await runs.claim(only)
      if (run !== undefined) {
        log.info({ run_id: run.id, project_id: run.projectId }, 'carrying out a run')
        await carryOutRun(run, carry, stopping)
      }
      failures = 0
      onProblem(undefined)
      if (only !== undefined && (await runs.isOver(only))) return
      if (run === undefined) await clock.sleep(pollIntervalMs, stopping)
    } catch (error) {
      if (!(error instanceof SluiceError) || error.retry === 'never') throw error
      onProblem(`${error.code}: ${error.message}`)
      log.warn({ err: error }, 'a run is interrupted and will be gone on with')
      await clock.sleep(Math.min(longestPauseMs, firstPauseMs * 2 ** failures++), stopping)
    }
  }
}

function carryDependencies(
  config: RedteamConfig,
  { log, clock, metrics }: ProcessDependencies,
  pool: CarryDependencies['pool'],
  logRecords: CarryDependencies['logRecords'],
): CarryDependencies {
  const made = metrics.counter(
    'sluice_redteam_attempts_total',
    'Attempts by what became of them at the target',
    ['outcome'],
  )
  return {
    pool,
    log,
    clock,
    logRecords,
    runs: createRunStore(pool, randomUUID(), config.REDTEAM_LEASE_MS),
    sealer: createSealer(config.BODY_ENCRYPTION_KEYS),
    prices: createPriceTable(
      [listFile, config.PRICES_FILE].flatMap((file) =>
        file === undefined ? [] : parsePrices(readFileSync(file, 'utf8'), file),
      ),
    ),
    readProbes: () => readProbes([ownProbesFolder, ...config.REDTEAM_PROBES]),
    openTarget: (run) =>
      openTarget(run, {
        allowedHosts: config.REDTEAM_ALLOWED_HOSTS,
        keys: config.REDTEAM_TARGET_KEYS,
        command: config.REDTEAM_TARGET_COMMAND,
        timeoutMs: config.REDTEAM_TARGET_TIMEOUT_MS,
        path: undefined,
        markSecret: redteamMarkSecret(config),
        clock,
      }),
    openRecorded: (runId, format) => openRecorded(runId, format, config.REDTEAM_RECORDED_FILE),
    openAttacker: () =>
      config.REDTEAM_ATTACKER_URL === undefined
        ? undefined
        : createAdaptiveAttacker({
            baseUrl: config.REDTEAM_ATTACKER_URL,
            model: config.REDTEAM_ATTACKER_MODEL,
            key: config.REDTEAM_ATTACKER_KEY,
            timeoutMs: config.REDTEAM_TARGET_TIMEOUT_MS,
          }),
    dashboardUrl: config.DASHBOARD_URL,
    pollIntervalMs: config.REDTEAM_POLL_INTERVAL_MS,
    scoreWaitMs: config.REDTEAM_SCORE_WAIT_MS,
    leaseMs: config.REDTEAM_LEASE_MS,
    onMade: (outcome) => made.inc({ outcome }),
  }
}

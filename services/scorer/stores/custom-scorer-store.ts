import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Health } from '#runtime/service.ts'
import type { CustomScorer } from '../scoring/custom/custom-scorer.ts'
import { parseScorers, type ScorerProblem } from '../scoring/custom/parse-scorers.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'

/** The custom scorers in force. */
export interface CustomScorerStore {
  current(): readonly CustomScorer[]
  /** Reads the file and watches it. Throws without a valid set: missing scorers would go unnoticed. */
  start(): Promise<void>
  stop(): Promise<void>
  health(): Health
}

interface StoreOptions {
  file: string
  metrics: ScorerMetrics
  log: Log
  /** Poll interval, milliseconds. */
  intervalMs?: number
}

/**
 * Polls the file: mounted configuration is replaced by symlinks, which file events do not report. A file
 * written in place is briefly empty or partial, which could pass for a complete set. It is therefore read
 * once unchanged for an interval.
 */
export function createCustomScorerStore(options: StoreOptions): CustomScorerStore {
  const { file, metrics, log, intervalMs = 1_000 } = options
  const read = createReader(options)
  let scorers: readonly CustomScorer[] = []
  let problem: string | undefined
  let settling: NodeJS.Timeout | undefined

  /** Throws an Error that says what is wrong with the file. */
  const load = () => {
    const loaded = read()
    problem = undefined
    metrics.customRefused.set(0)
    if (loaded === null) return
    scorers = loaded
    metrics.customScorers.set(scorers.length)
    metrics.customReloads.inc({ outcome: 'loaded' })
    const named = scorers.map(({ name, version }) => `${name} ${version}`)
    log.info({ file, scorers: named }, 'custom scorers loaded')
  }

  const reload = () => {
    try {
      load()
    } catch (error) {
      problem = messageOf(error)
      metrics.customReloads.inc({ outcome: 'refused' })
      metrics.customRefused.set(1)
      log.error(
        { reason: problem, inForce: scorers.length },
        'custom scorers rejected; keeping the last valid set',
      )
    }
  }

  const readOnceSettled = () => {
    clearTimeout(settling)
    settling = setTimeout(reload, intervalMs).unref()
  }

  return {
    current: () => scorers,
    start: () =>
      Promise.try(() => {
        load()
        watchFile(file, { persistent: false, interval: intervalMs }, readOnceSettled)
      }),
    stop() {
      unwatchFile(file, readOnceSettled)
      clearTimeout(settling)
      return Promise.resolve()
    },
    health: () =>
      problem === undefined
        ? { status: 'ok' }
        : { status: 'degraded', problems: { custom_scorers: problem } },
  }
}

/** Reads the enabled scorers of the file. Null if it is unchanged since the last valid read. */
function createReader({ file }: StoreOptions): () => readonly CustomScorer[] | null {
  let goodText: string | undefined
  return () => {
    const text = readFileSync(file, 'utf8')
    if (text === goodText) return null
    const parsed = parseScorers(text)
    if (!parsed.ok) throw new Error(describeProblems(file, parsed.problems))
    goodText = text
    return parsed.scorers.filter(({ entry }) => entry.enabled !== false)
  }
}

function describeProblems(file: string, problems: readonly ScorerProblem[]): string {
  return problems.map(({ line, reason }) => `${file}:${line}: ${reason}`).join('\n')
}

import { readFileSync, statSync } from 'node:fs'
import { createPriceTable, type Price, type PriceTable } from '#capture/price-table.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { parsePrices } from '#capture/record/parse-prices.ts'

/** The prices in force: Sluice's list, overridden by the operator's. */
export interface PriceStore extends PriceTable {
  /** Watches the operator's list. */
  start(): void
  stop(): void
  /** Why the current operator's list is not in force. */
  problem(): string | undefined
}

interface PriceStoreOptions {
  listFile: string
  /** The operator's list. */
  ownFile: string | undefined
  log: Log
  metrics: Metrics
  /** How often the operator's list is checked, in milliseconds. */
  intervalMs?: number
}

/**
 * Throws an Error with file, line and reason when a list is invalid at the start; one that becomes invalid
 * later leaves the last valid one in force. Polls, because mounted configuration is replaced by moving links,
 * which file events do not report.
 */
export function createPriceStore(options: PriceStoreOptions): PriceStore {
  const { listFile, ownFile, log, metrics, intervalMs = 1_000 } = options
  const reloads = metrics.counter('sluice_price_reloads_total', 'Price lists read again, by outcome', [
    'outcome',
  ])
  const list = readPrices(listFile)
  // Before the list is read, so that no change is missed.
  let seen = stateOf(ownFile)
  let table = createPriceTable(ownFile === undefined ? list : [...list, ...readPrices(ownFile)])
  let problem: string | undefined

  const reload = (file: string) => {
    try {
      table = createPriceTable([...list, ...readPrices(file)])
      problem = undefined
      reloads.inc({ outcome: 'loaded' })
      log.info({ file }, 'new prices are in force')
    } catch (error) {
      problem = messageOf(error)
      reloads.inc({ outcome: 'refused' })
      log.error({ reason: problem }, 'price list refused; keeping the last valid one')
    }
  }
  const look = () => {
    const now = stateOf(ownFile)
    if (now === seen || ownFile === undefined) return
    seen = now
    reload(ownFile)
  }
  let timer: NodeJS.Timeout | undefined

  return {
    costOf: (call, tokens) => table.costOf(call, tokens),
    start() {
      if (ownFile !== undefined) timer = setInterval(look, intervalMs).unref()
    },
    stop() {
      clearInterval(timer)
    },
    problem: () => problem,
  }
}

/** Differs when the file changed, was replaced or cannot be read; reading it then says why. */
function stateOf(file: string | undefined): string {
  if (file === undefined) return 'none'
  try {
    const { ino, mtimeMs, size } = statSync(file)
    return [ino, mtimeMs, size].join(' ')
  } catch (error) {
    return messageOf(error)
  }
}

function readPrices(file: string): readonly Price[] {
  return parsePrices(readFileSync(file, 'utf8'), file)
}

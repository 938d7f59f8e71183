import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, type Dispatcher } from 'undici'
import { serveOrders } from './bench-process.ts'
import { quantile } from './quantile.ts'

/** Calls to make: `connections` at a time as fast as possible, or `ratePerSecond` regardless of answers. */
export interface LoadOrder {
  url: string
  connections: number
  seconds: number
  ratePerSecond?: number
  headers: Readonly<Record<string, string>>
  body: string
  /** Absent: the path of chat completions. */
  path?: string
}

/** Times count from when a call was due. */
export interface LoadResult {
  /** Complete answers of status 200 to 299. */
  answered: number
  failed: number
  seconds: number
  p50Ms: number
  p99Ms: number
  /** Until the first byte of a body. */
  firstP50Ms: number
}

const usualPath = '/v1/chat/completions'

interface Times {
  ends: number[]
  firsts: number[]
  failed: number
}

/** One call; resolves when it has ended, also if it failed. */
function call(
  pool: Pool,
  { headers, body, path = usualPath }: LoadOrder,
  dueMs: number,
  times: Times,
): Promise<void> {
  return new Promise((resolve) => {
    let status = 0
    let firstMs: number | undefined
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart(_controller, statusCode) {
        status = statusCode
      },
      onResponseData() {
        firstMs ??= performance.now() - dueMs
      },
      onResponseEnd() {
        if (status >= 200 && status < 300) times.ends.push(performance.now() - dueMs)
        else times.failed++
        if (firstMs !== undefined) times.firsts.push(firstMs)
        resolve()
      },
      onResponseError() {
        times.failed++
        resolve()
      },
    }
    pool.dispatch({ path, method: 'POST', headers, body }, handler)
  })
}

async function closedLoop(pool: Pool, order: LoadOrder, times: Times): Promise<void> {
  const endMs = performance.now() + order.seconds * 1_000
  const client = async () => {
    while (performance.now() < endMs) await call(pool, order, performance.now(), times)
  }
  await Promise.all(Array.from({ length: order.connections }, client))
}

async function openLoop(pool: Pool, order: LoadOrder, rate: number, times: Times): Promise<void> {
  const startMs = performance.now()
  const calls: Promise<void>[] = []
  const total = Math.floor(order.seconds * rate)
  while (calls.length < total) {
    const dueMs = startMs + (calls.length / rate) * 1_000
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    // Overdue calls are sent together, and their wait counts.
    calls.push(call(pool, order, dueMs, times))
  }
  await Promise.all(calls)
}

async function load(order: LoadOrder): Promise<LoadResult> {
  const pool = new Pool(order.url, { connections: order.connections, pipelining: 1 })
  const times: Times = { ends: [], firsts: [], failed: 0 }
  const startMs = performance.now()
  await (order.ratePerSecond === undefined
    ? closedLoop(pool, order, times)
    : openLoop(pool, order, order.ratePerSecond, times))
  const seconds = (performance.now() - startMs) / 1_000
  await pool.close()
  const { ends, firsts, failed } = times
  return {
    answered: ends.length,
    failed,
    seconds,
    p50Ms: quantile(ends, 0.5),
    p99Ms: quantile(ends, 0.99),
    firstP50Ms: quantile(firsts, 0.5),
  }
}

serveOrders('', (order) => load(order as LoadOrder))

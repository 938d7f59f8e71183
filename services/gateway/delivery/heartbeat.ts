import { request, type Dispatcher } from 'undici'
import type { Log } from '#runtime/log.ts'
import type { Credential } from './credentials.ts'
import type { LeftOutCounts } from '../recording/left-out.ts'
import type { SpoolDepth } from '../spool/waiting-segments.ts'

/** What a gateway reports about itself. */
export interface GatewayReport {
  /** Stable across restarts. */
  name: string
  version: string
  delivery: 'api' | 'kafka'
  startedMs: number
  spool: SpoolDepth
  /** Records lost since the start, by reason. */
  lost: Readonly<Record<string, number>>
  /** Calls that were forwarded and not recorded since the start, by project and reason. */
  leftOut: LeftOutCounts
  /** One line for each unhealthy part. */
  problems: Readonly<Record<string, string>>
}

export interface Heartbeat {
  start(): void
  stop(): void
}

interface HeartbeatOptions {
  dispatcher: Dispatcher
  /** Base URL of the API service. */
  url: string
  credential: Credential | undefined
  everyMs: number
  report: () => Promise<GatewayReport>
  log: Log
  onFailure: () => void
}

const timeoutMs = 5_000
/** The API service accepts no longer text. */
const maxProblemLength = 500

/** Reports the gateway's state to the API service. A failed heartbeat is counted and not retried. */
export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { everyMs, report, log, onFailure } = options
  let timer: NodeJS.Timeout | undefined
  let isBeating = false
  let isFailing = false

  const beat = async () => {
    // One heartbeat at a time, however slow the service is.
    if (isBeating) return
    isBeating = true
    try {
      await send(options, await report())
      isFailing = false
    } catch (error) {
      onFailure()
      if (!isFailing) log.warn({ err: error }, 'the API service does not accept heartbeats')
      isFailing = true
    }
    isBeating = false
  }

  return {
    start() {
      void beat()
      timer = setInterval(() => void beat(), everyMs).unref()
    },
    stop: () => clearInterval(timer),
  }
}

async function send(
  { dispatcher, url, credential }: HeartbeatOptions,
  { startedMs, spool, leftOut, problems, ...report }: GatewayReport,
): Promise<void> {
  const { records, bytes, oldestMs } = spool
  const { statusCode, body } = await request(`${url}/internal/gateways/heartbeat`, {
    dispatcher,
    method: 'POST',
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    headers: {
      'content-type': 'application/json',
      ...(credential === undefined ? {} : { [credential.name]: credential.value }),
    },
    body: JSON.stringify({
      ...report,
      started_at: new Date(startedMs).toISOString(),
      left_out: leftOut,
      spool: { records, bytes, oldest_at: oldestMs === undefined ? null : new Date(oldestMs).toISOString() },
      problems: Object.fromEntries(
        Object.entries(problems).map(([part, problem]) => [
          part,
          problem.slice(0, maxProblemLength).toWellFormed().replaceAll('\u0000', '\ufffd'),
        ]),
      ),
    }),
  })
  await body.dump()
  if (statusCode !== 204) throw new Error(`the API service answered ${statusCode} to a heartbeat`)
}

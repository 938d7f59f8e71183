/** `failed` and `starting` answer 503 on /readyz; `degraded` serves on and says what is wrong. */
export interface Health {
  status: 'starting' | 'ok' | 'degraded' | 'stopping' | 'failed'
  /** One line a part that is not well, by its name. */
  problems?: Readonly<Record<string, string>>
}

/** The status of /healthz (503 once the process has failed) or of /readyz (503 unless it serves). */
export function healthStatus(path: string, { status }: Health): 200 | 503 {
  const isWell = path === '/healthz' ? status !== 'failed' : status === 'ok' || status === 'degraded'
  return isWell ? 200 : 503
}

/**
 * What every process runs. `start` resolves when it serves. `stop` drains, is idempotent, and is safe before
 * `start`.
 * `done` resolves after `stop`, and rejects when the service cannot go on: the process exits for its
 * supervisor.
 */
export interface Service {
  start(): Promise<void>
  stop(): Promise<void>
  health(): Health
  readonly done: Promise<void>
  /** The text of /metrics, for a service with worker processes; absent: this process's metrics. */
  metrics?(): Promise<string>
}

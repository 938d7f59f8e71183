/** `failed` and `starting` answer 503 on /readyz; `degraded` serves on and says what is wrong. */
export interface Health {
  status: 'starting' | 'ok' | 'degraded' | 'stopping' | 'failed'
  /** One line a part that is not well, by its name. */
  problems?: Readonly<Record<string, string>>
}

/**
 * What every process runs. `start` resolves when it serves; `stop` drains and is idempotent and safe before `start`;
 * `done` resolves after `stop` and rejects when the service cannot go on (the process then exits for its supervisor).
 */
export interface Service {
  start(): Promise<void>
  stop(): Promise<void>
  health(): Health
  readonly done: Promise<void>
  /** What /metrics answers, for a service whose work is done by further processes; absent: what this process counts. */
  metrics?(): Promise<string>
}

/** A broker, registry or database that was started from a package. */
export interface EmbeddedPart {
  readonly name: string
  /** Also the id of its process group. */
  readonly pid: number
  /** Address for clients: `host:port` for Kafka, a URL for the registry and Postgres. */
  readonly address: string
  readonly logFile: string
  /** Resolves when the process has exited, for whatever reason. Never rejects. */
  readonly exited: Promise<Exit>
  /** Stops the process cleanly, by force after its deadline. Idempotent. */
  readonly stop: () => Promise<void>
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** How long to wait for the start of a part. */
export interface Waiting {
  /** How long it may do nothing; unset: five minutes. */
  patienceMs?: number | undefined
  /** Aborted: the part is no longer needed. */
  signal?: AbortSignal | undefined
}

/** Reports progress while parts are fetched or started. */
export type Say = (line: string) => void

/**
 * Something outside the program must change first. The message is one sentence that says what, shown without
 * a stack.
 */
export class CannotStart extends Error {
  override readonly name = 'CannotStart'
}

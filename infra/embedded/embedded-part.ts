/** A broker, registry or database started from a package, as its owner sees it. */
export interface EmbeddedPart {
  readonly name: string
  /** Of the process itself, which is also the id of its process group. */
  readonly pid: number
  /** What clients are given: `host:port` for Kafka, a URL for the registry and Postgres. */
  readonly address: string
  readonly logFile: string
  /** Settles when the process is gone, whoever ended it. Never rejects. */
  readonly exited: Promise<Exit>
  /** Ends the process cleanly, by force after its deadline. Safe to call twice. */
  readonly stop: () => Promise<void>
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** How long somebody waits for a part to start. */
export interface Waiting {
  /** How long it may do nothing; unset: five minutes. */
  patienceMs?: number | undefined
  /** Aborted: the part is not wanted any more. */
  signal?: AbortSignal | undefined
}

/** Tells people what is going on while a part is fetched or started. */
export type Say = (line: string) => void

/** Something outside the program has to change first. The message is one sentence that says what, and is shown without a stack. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart'
}

/** A simulated process. Its events happen only while it lives, and later if it is paused (SIGSTOP). */
export interface SimProcess {
  /** `sink-1`; a restarted process keeps the name. */
  readonly name: string
  isAlive: boolean
  /** Nothing happens in it before this time. */
  stoppedUntilMs: number
}

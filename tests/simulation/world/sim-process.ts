/** A process of the simulation: what belongs to it happens only while it lives, and later when it is stopped for a while (SIGSTOP). */
export interface SimProcess {
  /** `sink-1`; the same for the one that is started in its place. */
  readonly name: string
  isAlive: boolean
  /** Nothing happens in it before this time. */
  stoppedUntilMs: number
}

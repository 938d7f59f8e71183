/** Live work goes before replays of history. */
export type Lane = 'live' | 'replay'

/** Those who wait for their turn: a line for each lane, in the order of coming. */
export interface WaitingLines {
  /** Resolves once `admit` has come to it, and after `onAdmit`. Rejects with the signal's reason when that aborts before. */
  wait(lane: Lane, signal: AbortSignal, options?: WaitOptions): Promise<void>
  isEmpty(lane: Lane): boolean
  /** The first of the lane may go, or the first of those that `rank` puts lowest; whom it gives null may not. Says whether one went. */
  admit(lane: Lane, rank?: (project: string | null) => number | null): boolean
}

interface WaitOptions {
  project?: string | null
  onAdmit?: () => void
}

interface Waiting {
  project: string | null
  proceed: () => void
}

export function createWaitingLines(): WaitingLines {
  const waiting: Record<Lane, Waiting[]> = { live: [], replay: [] }
  return {
    wait: (lane, signal, { project = null, onAdmit } = {}) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const onAbort = () => {
          waiting[lane].splice(waiting[lane].indexOf(own), 1)
          reject(signal.reason as Error)
        }
        const proceed = () => {
          signal.removeEventListener('abort', onAbort)
          onAdmit?.()
          resolve()
        }
        const own = { project, proceed }
        signal.addEventListener('abort', onAbort, { once: true })
        waiting[lane].push(own)
      }),
    isEmpty: (lane) => waiting[lane].length === 0,
    admit(lane, rank = () => 0) {
      let [next, lowest] = [-1, Infinity]
      for (const [at, { project }] of waiting[lane].entries()) {
        const own = rank(project)
        if (own === null || own >= lowest) continue
        ;[next, lowest] = [at, own]
        if (own === 0) break
      }
      if (next === -1) return false
      waiting[lane].splice(next, 1)[0]?.proceed()
      return true
    },
  }
}

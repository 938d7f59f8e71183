/** Live work goes before replays of history. */
export type Lane = 'live' | 'replay'

/** Those who wait for their turn: a line for each lane, in the order of coming. */
export interface WaitingLines {
  /** Resolves once `admit` has come to it, and after `onAdmit`. Rejects with the signal's reason when that aborts before. */
  wait(lane: Lane, signal: AbortSignal, onAdmit?: () => void): Promise<void>
  isEmpty(lane: Lane): boolean
  /** The first of the lane may go. */
  admit(lane: Lane): void
}

export function createWaitingLines(): WaitingLines {
  const waiting: Record<Lane, (() => void)[]> = { live: [], replay: [] }
  return {
    wait: (lane, signal, onAdmit) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const onAbort = () => {
          waiting[lane].splice(waiting[lane].indexOf(proceed), 1)
          reject(signal.reason as Error)
        }
        const proceed = () => {
          signal.removeEventListener('abort', onAbort)
          onAdmit?.()
          resolve()
        }
        signal.addEventListener('abort', onAbort, { once: true })
        waiting[lane].push(proceed)
      }),
    isEmpty: (lane) => waiting[lane].length === 0,
    admit: (lane) => waiting[lane].shift()?.(),
  }
}

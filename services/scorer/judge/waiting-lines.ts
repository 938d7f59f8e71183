/** Live work goes before replays of history. */
export const lanes = ['live', 'replay'] as const
export type Lane = (typeof lanes)[number]

/** For whom something is waited for. */
export interface Waiter {
  lane: Lane
  projectId: string
}

/** Those who wait for their turn: a line for each lane. Projects take turns in it, each in the order of coming. */
export interface WaitingLines {
  /** Resolves once `admit` has come to it, and after `onAdmit`. Rejects with the signal's reason when that aborts before. */
  wait(who: Waiter, signal: AbortSignal, onAdmit: () => void): Promise<void>
  isEmpty(lane: Lane): boolean
  /** The first of the lane may go, or the first of those that `rank` puts lowest; whom it gives null may not. Says whether one went. */
  admit(lane: Lane, rank?: (projectId: string) => number | null): boolean
  /** Puts those of a project that has had its turn behind the others. Who was admitted has had one; call it where that turn ends later. */
  sendBack(who: Waiter): void
}

interface Waiting {
  projectId: string
  proceed: () => void
}

export function createWaitingLines(): WaitingLines {
  const waiting: Record<Lane, Waiting[]> = { live: [], replay: [] }
  const sendBack = ({ lane, projectId }: Waiter) => {
    const isItsOwn = (one: Waiting) => one.projectId === projectId
    const others = waiting[lane].filter((one) => !isItsOwn(one))
    waiting[lane] = [...others, ...waiting[lane].filter(isItsOwn)]
  }
  return {
    wait: ({ lane, projectId }, signal, onAdmit) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const onAbort = () => {
          waiting[lane].splice(waiting[lane].indexOf(own), 1)
          reject(signal.reason as Error)
        }
        const proceed = () => {
          signal.removeEventListener('abort', onAbort)
          onAdmit()
          resolve()
        }
        const own = { projectId, proceed }
        signal.addEventListener('abort', onAbort, { once: true })
        waiting[lane].push(own)
      }),
    isEmpty: (lane) => waiting[lane].length === 0,
    admit(lane, rank = () => 0) {
      let next: Waiting | undefined
      let lowest = Infinity
      for (const one of waiting[lane]) {
        const own = rank(one.projectId)
        if (own === null || own >= lowest) continue
        ;[next, lowest] = [one, own]
        if (own === 0) break
      }
      if (next === undefined) return false
      waiting[lane].splice(waiting[lane].indexOf(next), 1)
      sendBack({ lane, projectId: next.projectId })
      next.proceed()
      return true
    },
    sendBack,
  }
}

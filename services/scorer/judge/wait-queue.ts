/** Live work goes before replays. */
export const lanes = ['live', 'replay'] as const
export type Lane = (typeof lanes)[number]

/** On whose behalf something waits. */
export interface Waiter {
  lane: Lane
  projectId: string
}

/** A wait queue with one line per lane. Projects take turns within a lane, each in order of arrival. */
export interface WaitQueue {
  /** Resolves once admitted, after `onAdmit`. Rejects with the signal's reason if that aborts first. */
  wait(who: Waiter, signal: AbortSignal, onAdmit: () => void): Promise<void>
  isEmpty(lane: Lane): boolean
  /**
   * Admits the lane's next waiter, or the next of the projects with the lowest `rank`; rank null is not
   * admitted. True if one was.
   */
  admit(lane: Lane, rank?: (projectId: string) => number | null): boolean
  /** Moves the project behind the others. `admit` does so itself; call this where the turn ends later. */
  moveToBack(who: Waiter): void
}

interface Waiting {
  projectId: string
  proceed: () => void
}

export function createWaitQueue(): WaitQueue {
  const waiting: Record<Lane, Waiting[]> = { live: [], replay: [] }
  const moveToBack = ({ lane, projectId }: Waiter) => {
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
      moveToBack({ lane, projectId: next.projectId })
      next.proceed()
      return true
    },
    moveToBack,
  }
}

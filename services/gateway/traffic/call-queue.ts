/** A call's place: waiting for a connection to the provider, or having one. */
export interface Place {
  /** Gives it up, for the next call. Leaving twice does nothing. */
  leave(): void
}

export interface CallQueue {
  /** `start` is called when it is this call's turn, at once where nobody has to wait; undefined: too many wait already. */
  enter(start: (place: Place) => void): Place | undefined
}

interface CallQueueOptions {
  /** As many calls as there are connections. */
  maxRunning: number
  maxWaiting: number
  onWaiting: (count: number) => void
}

/** A call waits here, first come first served, bounded, and left by calls whose application has gone. */
export function createCallQueue({ maxRunning, maxWaiting, onWaiting }: CallQueueOptions): CallQueue {
  const waiting = new Set<() => void>()
  let running = 0

  const startNext = () => {
    for (const start of waiting) {
      if (running >= maxRunning) return
      start()
    }
  }
  return {
    enter(start) {
      let isRunning = false
      let hasLeft = false
      const run = () => {
        if (waiting.delete(run)) onWaiting(waiting.size)
        isRunning = true
        running++
        start(place)
      }
      const place = {
        leave() {
          if (hasLeft) return
          hasLeft = true
          if (isRunning) {
            running--
            startNext()
          } else if (waiting.delete(run)) onWaiting(waiting.size)
        },
      }
      if (running < maxRunning) run()
      else if (waiting.size >= maxWaiting) return undefined
      else {
        waiting.add(run)
        onWaiting(waiting.size)
      }
      return place
    },
  }
}

import { CallTooLong } from './call-failures.ts'

/** A call that has not ended. It may continue for the record after its application disconnected. */
export interface LiveCall {
  /** Start time on the clock of `performance.now()`. */
  readonly begunMs: number
  /** Aborts the call; what arrived is recorded. */
  breakOff(error: Error): void
  /** The gateway stops taking calls: ends at the next occasion. */
  drain?(): void
}

export interface LiveCalls {
  add(call: LiveCall): void
  /** Removes a call that has ended and is recorded. */
  delete(call: LiveCall): void
  breakOffAll(error: Error): void
  /** Lets calls that would last end when they can; also those added from now on. */
  drain(): void
  /** Resolves when no calls are left. */
  untilNone(): Promise<void>
}

/** Aborts calls that take longer than `callTimeoutMs`, with one timer for all. */
export function createLiveCalls(callTimeoutMs: number): LiveCalls {
  // In order of start, which is the order of deadlines.
  const calls = new Set<LiveCall>()
  let none: PromiseWithResolvers<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isDraining = false

  const endOverdue = () => {
    timer = undefined
    const overdueMs = performance.now() - callTimeoutMs
    for (const call of calls) {
      if (call.begunMs > overdueMs) {
        timer = setTimeout(endOverdue, call.begunMs - overdueMs).unref()
        return
      }
      call.breakOff(new CallTooLong(`the call took longer than ${callTimeoutMs} ms`))
    }
  }
  return {
    add(call) {
      calls.add(call)
      timer ??= setTimeout(endOverdue, callTimeoutMs).unref()
      if (isDraining) call.drain?.()
    },
    drain() {
      isDraining = true
      for (const call of calls) call.drain?.()
    },
    delete(call) {
      calls.delete(call)
      if (calls.size > 0) return
      none?.resolve()
      none = undefined
    },
    breakOffAll(error) {
      for (const call of calls) call.breakOff(error)
    },
    untilNone() {
      if (calls.size === 0) return Promise.resolve()
      none ??= Promise.withResolvers()
      return none.promise
    },
  }
}

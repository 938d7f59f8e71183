import { CallTooLong } from './upstream.ts'

/** A call that is not over: its answer is on the way, or heard out for the record after its application has gone. */
export interface LiveCall {
  /** When it began, on the clock of `performance.now()`. */
  readonly begunMs: number
  /** Ends it as it stands: what came is recorded. */
  breakOff(error: Error): void
}

export interface LiveCalls {
  add(call: LiveCall): void
  /** It is over and recorded. */
  delete(call: LiveCall): void
  breakOffAll(error: Error): void
  /** Resolves as soon as there is none. */
  untilNone(): Promise<void>
}

/** Breaks off those that take longer than `callTimeoutMs`; all share one timer. */
export function createLiveCalls(callTimeoutMs: number): LiveCalls {
  // In the order they began, which is that of their deadlines.
  const calls = new Set<LiveCall>()
  let none: PromiseWithResolvers<void> | undefined
  let timer: NodeJS.Timeout | undefined

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

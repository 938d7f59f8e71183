/** A call that is not over: its answer is on the way, or heard out for the record after its application has gone. */
export interface LiveCall {
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

export function createLiveCalls(): LiveCalls {
  const calls = new Set<LiveCall>()
  let none: PromiseWithResolvers<void> | undefined
  return {
    add: (call) => void calls.add(call),
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

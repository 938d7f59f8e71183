import { keepFirst } from '../capture/keep-first.ts'
import type { TakenValue } from './capturing/plain-value.ts'

/** `output` gives what came out, as JSON can hold it. */
export interface Span {
  end(output: () => TakenValue): void
  fail(error: unknown, output?: () => TakenValue): void
}

/** A call of a traced function whose result is followed; `inside` is its session. */
export interface TracedCall {
  span: Span
  inside: <T>(work: () => T) => T
}

/** The calls that returned one and the same promise or stream, until the program asks it. */
const waiting = new WeakMap<object, TracedCall[]>()

/** What nobody awaited or read: told when the garbage collector finds it. */
const neverAsked = new FinalizationRegistry<TracedCall[]>((calls) => {
  asOneCall(calls).span.end(() => ({ value: '[never read]', isCut: false }))
})

/** Lets `call` wait for `value`. `hear` is called the first time, however many calls return it: a layer for each would outgrow the stack. */
export function waitWithOthers(
  value: object,
  call: TracedCall,
  hear: (take: () => TracedCall[]) => void,
): void {
  const others = waiting.get(value)
  if (others !== undefined) {
    others.push(call)
    return
  }
  const calls = [call]
  waiting.set(value, calls)
  neverAsked.register(value, calls)
  hear(() => calls.splice(0))
}

/** What is told to all of them, in the session of the innermost, which was the first. */
export function asOneCall(calls: readonly TracedCall[]): TracedCall {
  return {
    inside: calls[0]?.inside ?? ((work) => work()),
    span: {
      end(output) {
        const once = keepFirst(output)
        for (const { span } of calls) span.end(once)
      },
      fail(error, output) {
        const once = output && keepFirst(output)
        for (const { span } of calls) span.fail(error, once)
      },
    },
  }
}

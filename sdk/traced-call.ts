import { keepFirst } from '../capture/keep-first.ts'
import type { OnDefect } from '../capture/record/raw-answer.ts'
import type { TakenValue } from './capturing/plain-value.ts'

/** `output` gives what came out, as JSON can hold it; `atMs` is when, if not now. */
export interface Span {
  end(output: () => TakenValue, atMs?: number): void
  fail(error: unknown, output?: () => TakenValue): void
}

/** A call of a traced function whose result is followed; `inside` is its session. */
export interface TracedCall {
  span: Span
  onDefect: OnDefect
  inside: <T>(work: () => T) => T
}

/** The calls that returned one and the same promise or stream, until the program asks it. */
const waiting = new WeakMap<object, TracedCall[]>()

/** In the place of what nobody awaited or read. */
export const neverRead = '[never read]'

const dropped = new FinalizationRegistry<() => void>((tell) => {
  tell()
})

/** Tells when the garbage collector finds that nobody holds `value` any more. What `tell` holds must not hold it. */
export function whenDropped(value: object, tell: () => void): void {
  dropped.register(value, tell)
}

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
  whenDropped(value, tellNeverRead(calls))
  hear(() => calls.splice(0))
}

/** Apart, so that it holds nothing else. What the answer is nobody knows, and so nobody can call it harmless. */
function tellNeverRead(calls: readonly TracedCall[]): () => void {
  return () => {
    asOneCall(calls).span.end(() => ({ value: neverRead, isCut: true }))
  }
}

/** What is told to all of them, in the session of the innermost, which was the first. */
export function asOneCall(calls: readonly TracedCall[]): TracedCall {
  return {
    inside: calls[0]?.inside ?? ((work) => work()),
    onDefect: calls[0]?.onDefect ?? (() => undefined),
    span: {
      end(output, atMs) {
        const once = keepFirst(output)
        for (const { span } of calls) span.end(once, atMs)
      },
      fail(error, output) {
        const once = output && keepFirst(output)
        for (const { span } of calls) span.fail(error, once)
      },
    },
  }
}

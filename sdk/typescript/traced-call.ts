import { keepFirst } from '../../capture/keep-first.ts'
import type { OnDefect } from '../../capture/record/raw-answer.ts'
import type { Snapshot } from './capturing/plain-value.ts'

/** `output` returns the JSON-compatible result; `atMs` is the end time if not now. */
export interface Span {
  end(output: () => Snapshot, atMs?: number): void
  fail(error: unknown, output?: () => Snapshot): void
}

/** A traced call whose result is followed; `inside` runs work in its session. */
export interface TracedCall {
  span: Span
  onDefect: OnDefect
  inside: <T>(work: () => T) => T
}

/** Calls that returned the same promise or stream, until the program uses it. */
const waiting = new WeakMap<object, TracedCall[]>()

/** Recorded for a result that was never awaited or read. */
export const neverRead = '[never read]'

const dropped = new FinalizationRegistry<() => void>((report) => {
  report()
})

/** Calls `report` after `value` was garbage collected. `report` must not refer to it. */
export function whenDropped(value: object, report: () => void): void {
  dropped.register(value, report)
}

/**
 * Lets `call` wait for `value`. Calls `observe` only the first time, as one layer per call would overflow the
 * stack.
 */
export function waitWithOthers(
  value: object,
  call: TracedCall,
  observe: (take: () => TracedCall[]) => void,
): void {
  const others = waiting.get(value)
  if (others !== undefined) {
    others.push(call)
    return
  }
  const calls = [call]
  waiting.set(value, calls)
  whenDropped(value, reportNeverRead(calls))
  observe(() => calls.splice(0))
}

/** A separate function that holds nothing else. An unread result cannot be judged harmless. */
function reportNeverRead(calls: readonly TracedCall[]): () => void {
  return () => {
    asOneCall(calls).span.end(() => ({ value: neverRead, isCut: true }))
  }
}

/** Reports to all calls, in the session of the innermost, which came first. */
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

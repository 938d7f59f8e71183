import { AsyncLocalStorage } from 'node:async_hooks'
import { ofProcess } from '../of-process.ts'
import { isOriginal, type Fetch } from './fetch-request.ts'

/** A call that is being recorded while the fetch below it sends it. */
export interface RunningCall {
  url: string
  body: string | Promise<string>
}

/** One for all clients of the process: each of two that record one call would count it. */
const running = ofProcess('running', () => new AsyncLocalStorage<{ call: RunningCall | undefined }>())

/** Whether a fetch around this one records the same call: a wrapped client's own fetch may record too. */
export function isRecordedAround(call: RunningCall): boolean {
  const outer = running.getStore()?.call
  if (outer === undefined) return false
  // By the text, as a fetch may change the address, or call another model first (a guardrail).
  const haveText = typeof outer.body === 'string' && typeof call.body === 'string'
  return haveText ? outer.body === call.body : outer.url === call.url
}

/** Sends a call by `inner`; a fetch inside that is given the same call does not record it. */
export async function sendRecorded(
  call: RunningCall,
  inner: Fetch,
  send: () => Promise<Response>,
): Promise<Response> {
  // Before Node 24 the first `run` slows every promise of the process.
  if (isOriginal(inner)) return send()
  const store: { call: RunningCall | undefined } = { call }
  try {
    return await running.run(store, send)
  } finally {
    // What `inner` started may go on for long, with other calls.
    store.call = undefined
  }
}

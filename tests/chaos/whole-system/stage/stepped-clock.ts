import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'

// Preloaded into services by `--import` (clock-files.ts), so that one process's wall clock can be wrong. Timers and
// `performance.now()` go on as they did: a step moves the wall clock only. Loaded in each thread and each forked worker.

/** Holds milliseconds; the file beside it says which are in force. */
const file = new URL(import.meta.url).searchParams.get('file') ?? ''
const lookEveryMs = 100

const RealDate = Date
let offsetMs = 0
let inForce = ''
const now = () => RealDate.now() + offsetMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as object,
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver): unknown => (name === 'now' ? now : Reflect.get(target, name, receiver)),
})

look()
setInterval(look, lookEveryMs).unref()

function look(): void {
  const text = readFileSync(file, 'utf8')
  if (text === inForce) return
  offsetMs = Number(text)
  inForce = text
  // Whole or not at all, because it is read meanwhile; and by a name of its own, because other threads say the same.
  const own = `${file}.${process.pid}-${threadId}`
  writeFileSync(own, text)
  renameSync(own, `${file}.in-force`)
}

import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'

/** Preloaded by --import: writes the packages of OpenTelemetry that a process has loaded when it ends. */
const { cache } = createRequire(import.meta.url)
process.on('exit', () => {
  const loaded = Object.keys(cache).flatMap((path) => /@opentelemetry\/[\w-]+/.exec(path)?.[0] ?? [])
  writeSync(2, `loaded:${JSON.stringify([...new Set(loaded)].sort())}\n`)
})

import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '#runtime/errors.ts'
import { undoAll, type Undo } from '../support/undo.ts'
import { findEngine } from './engine/find-engine.ts'
import type { Engine } from './engine/engine.ts'
import { chooseParts, parts, usage } from './parts.ts'
import { CannotRun } from './platform-part.ts'
import { createReport, Stopped, type Report } from './report.ts'

/**
 * `scripts/test --platform PART…`. Exit code: 0 all parts ran and passed, 1 something failed or did not
 * run, 2 wrong arguments.
 */
const cache = process.env['SLUICE_PLATFORM_CACHE'] || join(homedir(), '.cache', 'sluice-platform')
const jars = process.env['SLUICE_CACHE_DIR'] ?? join(import.meta.dirname, '..', '..', '.cache')

async function run(names: readonly string[]): Promise<number> {
  const given = chooseParts(names)
  if ('problem' in given) {
    console.error(`${given.problem}\n\n${usage}`)
    return 2
  }
  await mkdir(cache, { recursive: true })
  const report = createReport(console.log)
  const shared: Undo = []
  let found: Promise<Engine> | undefined
  const engine = () => (found ??= findEngine(cache, shared, console.log))
  for (const name of given.chosen) await runPart(name, report, engine)
  await undoAll(shared).catch((error: unknown) => report.fail('what was started ends', error))
  console.log(report.summary())
  return report.failed === 0 ? 0 : 1
}

async function runPart(name: string, report: Report, engine: () => Promise<Engine>): Promise<void> {
  const undo: Undo = []
  console.log(`\n${name}: ${parts[name]?.about}`)
  try {
    await parts[name]?.run({ cache, jars, report, say: console.log, undo, engine })
  } catch (error) {
    if (error instanceof CannotRun) report.fail(name, `it was not run: ${messageOf(error)}`)
    else if (!(error instanceof Stopped)) report.fail(name, error)
  } finally {
    await undoAll(undo).catch((error: unknown) => report.fail(`${name} ends`, error))
  }
}

// Guards end the child processes with this one.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
const names = process.argv.slice(2)
if (names.includes('--help') || names.includes('-h')) console.log(usage)
else process.exitCode = await run(names)

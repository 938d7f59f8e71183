import { execFile } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CannotStart, type Say } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'

const root = join(import.meta.dirname, '..', '..')
const sources = ['services/dashboard/client/**/*', 'scripts/build-dashboard.ts', 'package-lock.json']
const built = 'services/dashboard/dist/index.html'

/** Builds the dashboard's client if there is none, or if it is older than its sources. */
export async function ensureClient(say: Say): Promise<void> {
  if (timeOf(built) >= Math.max(...globSync(sources, { cwd: root }).map(timeOf))) return
  say("building the dashboard's client")
  try {
    // In a child process: otherwise the supervisor would keep the bundler's memory.
    await promisify(execFile)(process.execPath, [join(root, 'scripts', 'build-dashboard.ts')])
  } catch (error) {
    throw new CannotStart(`The dashboard's client cannot be built: ${messageOf(error)}`)
  }
}

/** 0: no such file. */
function timeOf(name: string): number {
  return statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

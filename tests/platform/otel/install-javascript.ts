import { access, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import type { Say } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'
import { runProgram } from '../engine/run-program.ts'
import { CannotRun } from '../platform-part.ts'

/** The program's copy in the cache, beside the packages that it needs. Throws {@link CannotRun}. */
export async function installJavascript(cache: string, say: Say, program: string): Promise<string> {
  const place = await installPackages(cache, say, join(import.meta.dirname, 'javascript'))
  const copy = join(place, basename(program))
  await cp(program, copy)
  return copy
}

/** A folder in the cache with the packages that `source/package.json` names. Throws {@link CannotRun}. */
export async function installPackages(cache: string, say: Say, source: string): Promise<string> {
  const wanted = await readFile(join(source, 'package.json'), 'utf8')
  const place = join(cache, `javascript-${createHash('sha256').update(wanted).digest('hex').slice(0, 12)}`)
  const mark = join(place, 'complete')
  try {
    if (!(await isThere(mark))) {
      say('packages for JavaScript are installed into the cache, once')
      await rm(place, { recursive: true, force: true })
      await mkdir(place, { recursive: true })
      await cp(join(source, 'package.json'), join(place, 'package.json'))
      await runProgram('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
        cwd: place,
        timeoutMs: 600_000,
      })
      await writeFile(mark, '')
    }
    return place
  } catch (error) {
    throw new CannotRun(`the packages of JavaScript are needed (${messageOf(error)})`, { cause: error })
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { firstThere } from './first-there.ts'

const run = promisify(execFile)
const cache = join(import.meta.dirname, '..', '..', '.cache')
const downloadTimeoutMs = 180_000

/**
 * The folder under .cache in which the files of Debian's package `name` are, with those of its dependencies
 * that match `libraries`: unpacked once, and installed nowhere. Rejects where they cannot be fetched.
 */
export async function unpackDebian(name: string, libraries?: RegExp): Promise<string> {
  const unpacked = join(cache, name)
  if ((await firstThere([unpacked])) !== undefined) return unpacked
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, `${name}-`))
  const options = { cwd: directory, timeout: downloadTimeoutMs }
  try {
    await run('apt-get', ['download', name], options).catch(async () => {
      // A new machine has no lists yet; root may fetch them.
      await run('apt-get', ['update'], options)
      await run('apt-get', ['download', name], options)
    })
    if (libraries !== undefined) {
      // Releases of Debian call the same library by different names.
      const { stdout } = await run('apt-cache', ['depends', '--important', name], options)
      const needed = [...stdout.matchAll(/Depends: (\S+)/g)].flatMap(([, one = '']) =>
        libraries.test(one) ? [one] : [],
      )
      await run('apt-get', ['download', ...needed], options)
    }
    const target = join(directory, 'unpacked')
    const files = (await readdir(directory)).filter((candidate) => candidate.endsWith('.deb'))
    if (files.length === 0) throw new Error('apt-get downloaded nothing')
    for (const file of files) await run('dpkg-deb', ['-x', join(directory, file), target], options)
    // As a whole or not at all, also when two tests come here at once.
    await rename(target, unpacked).catch(async (error: unknown) => {
      if ((await firstThere([unpacked])) === undefined) throw error
    })
    return unpacked
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

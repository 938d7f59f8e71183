import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { firstThere } from './first-there.ts'

const run = promisify(execFile)
const cache = join(import.meta.dirname, '..', '..', '.cache')
const downloadTimeoutMs = 180_000

/**
 * The folder under .cache with the files of Debian's package `name` and of its dependencies that match
 * `libraries`. Unpacked once; nothing is installed. Rejects if they cannot be fetched.
 */
export async function unpackDebian(name: string, libraries?: RegExp): Promise<string> {
  const unpacked = join(cache, name)
  if ((await firstThere([unpacked])) !== undefined) return unpacked
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, `${name}-`))
  const options = { cwd: directory, timeout: downloadTimeoutMs }
  try {
    await run('apt-get', ['download', name], options).catch(async () => {
      // A new machine has no package lists yet; root may fetch them.
      await run('apt-get', ['update'], options)
      await run('apt-get', ['download', name], options)
    })
    if (libraries !== undefined) {
      // Releases of Debian name the same library differently.
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
    // Atomic, also if two tests unpack at once.
    await rename(target, unpacked).catch(async (error: unknown) => {
      if ((await firstThere([unpacked])) === undefined) throw error
    })
    return unpacked
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

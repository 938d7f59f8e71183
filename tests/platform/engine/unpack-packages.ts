import { access, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#runtime/errors.ts'
import { CannotRun } from '../platform-part.ts'
import { runProgram } from './run-program.ts'

/**
 * Debian's packages and missing dependencies, unpacked into a folder of the cache. Installs nothing and runs
 * no package scripts. Resolves with the folder, a root of its own. Throws {@link CannotRun}.
 */
export async function unpackPackages(cache: string, packages: readonly string[]): Promise<string> {
  const place = join(cache, packages.join('+'))
  const isThere = await access(place).then(
    () => true,
    () => false,
  )
  if (isThere) return place
  const building = `${place}.${process.pid}`
  try {
    const archives = join(building, 'archives')
    await mkdir(join(archives, 'partial'), { recursive: true })
    await download(packages, archives)
    for (const file of await readdir(archives))
      if (file.endsWith('.deb'))
        await runProgram('dpkg-deb', ['-x', join(archives, file), join(building, 'root')])
    await rename(join(building, 'root'), place)
  } catch (error) {
    throw new CannotRun(`Debian's packages ${packages.join(', ')} cannot be fetched (${messageOf(error)})`, {
      cause: error,
    })
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return place
}

async function download(packages: readonly string[], archives: string): Promise<void> {
  const options = [
    '-y',
    '--no-install-recommends',
    '--download-only',
    '-o',
    `Dir::Cache::archives=${archives}`,
  ]
  const fetchAll = () => runProgram('apt-get', ['install', '--reinstall', ...options, ...packages])
  await fetchAll().catch(async () => {
    // A new machine has no package lists yet; root may fetch them.
    await runProgram('apt-get', ['update'])
    await fetchAll()
  })
}

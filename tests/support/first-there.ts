import { access } from 'node:fs/promises'

/** The first of the paths that exists. */
export async function firstThere(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}

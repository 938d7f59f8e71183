import { delimiter, join } from 'node:path'
import { messageOf } from '#runtime/errors.ts'
import { unpackDebian } from './debian-package.ts'
import { firstThere } from './first-there.ts'

/**
 * The path of `promtool` or `prometheus`: from PATH, or from Debian's package, unpacked under .cache once.
 * Rejects with what to do if there is neither.
 */
export async function prometheusTool(name: 'promtool' | 'prometheus'): Promise<string> {
  const places = (process.env['PATH'] ?? '').split(delimiter)
  const found = await firstThere(places.map((directory) => join(directory, name)))
  if (found !== undefined) return found
  try {
    return join(await unpackDebian('prometheus'), 'usr', 'bin', name)
  } catch (error) {
    throw new Error(
      `${name} is needed and cannot be fetched (${messageOf(error)}): install Debian's package "prometheus", or put ${name} on PATH`,
      { cause: error },
    )
  }
}

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '#runtime/errors.ts'
import { firstThere } from './first-there.ts'

const run = promisify(execFile)
const cache = join(import.meta.dirname, '..', '..', '.cache')
const unpacked = join(cache, 'prometheus')
const downloadTimeoutMs = 180_000

/**
 * The path of `promtool` or `prometheus`: on PATH, or out of Debian's package, which is unpacked under .cache once and installs nothing. Rejects
 * with what to do where there is neither.
 */
export async function prometheusTool(name: 'promtool' | 'prometheus'): Promise<string> {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), join(unpacked, 'usr', 'bin')]
  const found = await firstThere(places.map((directory) => join(directory, name)))
  if (found !== undefined) return found
  try {
    await unpackPackage()
  } catch (error) {
    throw new Error(
      `${name} is needed and cannot be fetched (${messageOf(error)}): install Debian's package "prometheus", or put ${name} on PATH`,
      { cause: error },
    )
  }
  return join(unpacked, 'usr', 'bin', name)
}

async function unpackPackage(): Promise<void> {
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'prometheus-'))
  const options = { cwd: directory, timeout: downloadTimeoutMs }
  try {
    await run('apt-get', ['download', 'prometheus'], options).catch(async () => {
      // A new machine has no lists yet; root may fetch them.
      await run('apt-get', ['update'], options)
      await run('apt-get', ['download', 'prometheus'], options)
    })
    const file = (await readdir(directory)).find((candidate) => candidate.endsWith('.deb'))
    if (file === undefined) throw new Error('apt-get downloaded nothing')
    const target = join(directory, 'unpacked')
    await run('dpkg-deb', ['-x', join(directory, file), target], options)
    // As a whole or not at all, also when two tests come here at once.
    await rename(target, unpacked).catch(async (error: unknown) => {
      if ((await firstThere([join(unpacked, 'usr', 'bin', 'promtool')])) === undefined) throw error
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

import { mkdir, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { linkLibraries } from './link-libraries.ts'

test('creates each listed link; existing ones stay, other errors are thrown', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-links-'))
  try {
    await mkdir(join(directory, 'native', 'lib'), { recursive: true })
    const list = (target: string) =>
      writeFile(
        join(directory, 'native', 'pg-symlinks.json'),
        JSON.stringify([{ source: 'native/lib/libpq.so.5.18', target }]),
      )
    await list('native/lib/libpq.so.5')
    await linkLibraries(directory)
    await linkLibraries(directory)
    expect(await readlink(join(directory, 'native', 'lib', 'libpq.so.5'))).toBe('libpq.so.5.18')
    await list('elsewhere/libpq.so.5')
    await expect(linkLibraries(directory)).rejects.toThrow('ENOENT')
  } finally {
    await rm(directory, { recursive: true })
  }
})

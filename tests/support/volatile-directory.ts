import { mkdtemp, readdir, readlink, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '#runtime/errors.ts'

/** A whole run took 0.25 GiB; on a busier machine Postgres's log alone may take 1 GiB. */
const neededBytes = 3 * 1024 ** 3
const unusable = ['ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC']

/**
 * A folder for what the run keeps until its end: of memory where the system has a file system of it with room, otherwise of the disk. Of
 * what ten files with databases and topics of their own take a tenth is the kernel's work for the disk (58 and 52 s of processor).
 */
export async function makeVolatileDirectory(memory = '/dev/shm'): Promise<string> {
  const prefix = await ownPrefix()
  const makeIn = (parent: string) => mkdtemp(join(parent, `${prefix}${process.pid}-`))
  try {
    await removeAbandoned(memory, prefix)
    const { bavail, bsize } = await statfs(memory)
    if (Math.min(bavail * bsize, process.availableMemory() / 2) >= neededBytes) return await makeIn(memory)
  } catch (error) {
    if (!unusable.includes(codeOf(error))) throw error
  }
  return makeIn(tmpdir())
}

/** With the namespace of its process numbers: containers that share the memory count theirs each for itself. */
async function ownPrefix(): Promise<string> {
  // Only Linux has them.
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `sluice-run-${process.getuid?.() ?? 0}-${namespace.replaceAll(/\D/g, '')}-`
}

/** A run that was killed left its folder, which would take memory for as long as the machine is up. */
async function removeAbandoned(memory: string, prefix: string): Promise<void> {
  const pidOf = (name: string) => Number(name.slice(prefix.length).split('-')[0])
  const abandoned = (await readdir(memory)).filter((name) => name.startsWith(prefix) && !runs(pidOf(name)))
  for (const name of abandoned)
    await rm(join(memory, name), { recursive: true, force: true }).catch((error: unknown) => {
      // Its Postgres and Kafka, which are still ending, write to it: the next run takes it away.
      if (codeOf(error) !== 'ENOTEMPTY') throw error
    })
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

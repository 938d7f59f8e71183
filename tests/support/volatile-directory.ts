import { mkdtemp, readdir, readlink, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '#runtime/errors.ts'

/** A whole run takes 0.25 GiB; on a busier machine Postgres's log alone may take 1 GiB. */
const neededBytes = 3 * 1024 ** 3
const unusable = ['ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC']

/**
 * A folder for the run's data: in memory if there is space, else on disk. For ten test files with databases
 * and topics, the disk costs a tenth more CPU (58 against 52 s).
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

/** With the PID namespace: containers may share the memory but not process ids. */
async function ownPrefix(): Promise<string> {
  // Only Linux has namespaces.
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `sluice-run-${process.getuid?.() ?? 0}-${namespace.replaceAll(/\D/g, '')}-`
}

/** Removes folders of killed runs, which take memory until the machine reboots. */
async function removeAbandoned(memory: string, prefix: string): Promise<void> {
  const pidOf = (name: string) => Number(name.slice(prefix.length).split('-')[0])
  const abandoned = (await readdir(memory)).filter((name) => name.startsWith(prefix) && !runs(pidOf(name)))
  for (const name of abandoned)
    await rm(join(memory, name), { recursive: true, force: true }).catch((error: unknown) => {
      // Its Postgres and Kafka are still stopping and writing; the next run removes it.
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

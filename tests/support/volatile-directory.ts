import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

const prefix = `sluice-run-${userInfo().uid}-`
/** Ten files of tests took 0.1 GiB; Postgres's log may take 1 GiB. */
const neededBytes = 3 * 1024 ** 3

/**
 * A folder for what the run keeps until its end: of memory where the system has a file system of it with room, otherwise of the disk. Of
 * what ten files with databases and topics of their own take a tenth is the kernel's work for the disk (58 and 52 s of processor).
 */
export async function makeVolatileDirectory(memory = '/dev/shm'): Promise<string> {
  const freeBytes = await freeBytesOf(memory)
  if (freeBytes !== null) await removeAbandoned(memory)
  const hasRoom = Math.min(freeBytes ?? 0, process.availableMemory() / 2) >= neededBytes
  return mkdtemp(join(hasRoom ? memory : tmpdir(), `${prefix}${process.pid}-`))
}

/** null: there is no such place. */
async function freeBytesOf(directory: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return null
  }
}

/** A run that was killed left its folder, which would take memory for as long as the machine is up. */
async function removeAbandoned(memory: string): Promise<void> {
  const pidOf = (name: string) => Number(name.slice(prefix.length).split('-')[0])
  const abandoned = (await readdir(memory)).filter((name) => name.startsWith(prefix) && !runs(pidOf(name)))
  for (const name of abandoned) await rm(join(memory, name), { recursive: true, force: true })
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

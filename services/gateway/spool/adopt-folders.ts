import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { segmentSuffix } from './segment.ts'
import { isAbandoned, isMissing, writeLock } from './spool-lock.ts'

const folderPrefix = 'worker-'
const incomingPrefix = 'incoming-'

/** Makes and locks this process's folder in `directory`. */
export async function createFolder(directory: string, name: string): Promise<string> {
  // Locked before it has its name: nobody sees it without an owner.
  const hidden = join(directory, `.${name}`)
  const folder = join(directory, folderPrefix + name)
  await mkdir(hidden, { recursive: true, mode: 0o700 })
  await writeLock(hidden)
  await rename(hidden, folder)
  return folder
}

/**
 * Moves the segments of every folder whose process is gone into `own`. Renaming a folder is what claims it, so of two
 * gateways that start together one has it. Gives the paths, oldest first.
 */
export async function adoptFolders(directory: string, own: string, nowMs: number): Promise<string[]> {
  for (const name of await readdir(directory)) {
    const folder = join(directory, name)
    if (!name.startsWith(folderPrefix) || folder === own || !(await isAbandoned(folder, nowMs))) continue
    await rename(folder, join(own, incomingPrefix + name)).catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
  }
  await unpack(own, own)
  const names = await readdir(own)
  return names
    .filter((name) => name.endsWith(segmentSuffix))
    .sort()
    .map((name) => join(own, name))
}

/** A process can be killed while it adopts, so what it had claimed lies inside its own folder. */
async function unpack(folder: string, own: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name.startsWith(incomingPrefix)) {
      await unpack(path, own)
      await rm(path, { recursive: true })
    } else if (folder !== own && entry.name.includes(segmentSuffix)) await rename(path, join(own, entry.name))
  }
}

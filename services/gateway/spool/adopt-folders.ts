import { mkdir, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#runtime/log.ts'
import { erasedPath, inspectSegment, isEphemeralPath, segmentSuffix, type Segment } from './segment.ts'
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

interface AdoptOptions {
  now: () => number
  /** Whether there is room for so many bytes more; then they are taken. */
  hasRoom: (byteLength: number) => boolean
  log: Log
}

/** What adoption brought. */
export interface AdoptedSegments {
  /** Oldest first. */
  segments: Segment[]
  /** How many of them cannot be read to their end. */
  damaged: number
}

/** Moves the segments of folders whose process is gone into `own`, as long as there is room, and looks at them. */
export async function adoptSegments(
  directory: string,
  own: string,
  { now, hasRoom, log }: AdoptOptions,
): Promise<AdoptedSegments> {
  const adopted: AdoptedSegments = { segments: [], damaged: 0 }
  for (const path of await adoptFolders(directory, own, now(), hasRoom)) {
    const { segment, problem } = await inspectSegment(path)
    if (problem !== null) log.error({ segment: path, problem }, 'a spool segment cannot be read to its end')
    if (problem === 'damaged') adopted.damaged++
    // One of another version stays where it is, for the gateway that can read it.
    if (problem !== 'another version') adopted.segments.push(segment)
  }
  return adopted
}

/**
 * Renaming a folder is what claims it, so of two gateways that come together one has it. Gives the paths of what was
 * adopted, oldest first.
 */
async function adoptFolders(
  directory: string,
  own: string,
  nowMs: number,
  hasRoom: (byteLength: number) => boolean,
): Promise<string[]> {
  for (const name of await readdir(directory)) {
    const folder = join(directory, name)
    if (!name.startsWith(folderPrefix) || folder === own || !(await isAbandoned(folder, nowMs))) continue
    if (!hasRoom(await bytesIn(folder))) continue
    await rename(folder, join(own, incomingPrefix + name)).catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
  }
  const adopted = (await unpack(own, own)).filter((name) => name.endsWith(segmentSuffix)).sort()
  return withoutErased(adopted.map((name) => join(own, name)))
}

async function bytesIn(folder: string): Promise<number> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))))
    return sizes.reduce((sum, { size }) => sum + size, 0)
  } catch (error) {
    // Another gateway has it.
    if (isMissing(error)) return 0
    throw error
  }
}

/** A process can be killed between writing a segment without its bodies and removing the one with them. */
async function withoutErased(paths: readonly string[]): Promise<string[]> {
  const all = new Set(paths)
  const isErased = (path: string) => isEphemeralPath(path) && all.has(erasedPath(path))
  await Promise.all(paths.filter(isErased).map((path) => unlink(path)))
  return paths.filter((path) => !isErased(path))
}

/**
 * Moves what lies in claimed folders into `own`; a process can be killed while it adopts, so they may hold claimed ones in turn. Gives
 * the names of the files that were moved: others appear in `own` meanwhile, because it is written to.
 */
async function unpack(folder: string, own: string): Promise<string[]> {
  const moved: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name.startsWith(incomingPrefix)) {
      moved.push(...(await unpack(path, own)))
      await rm(path, { recursive: true })
    } else if (folder !== own && entry.name.includes(segmentSuffix)) {
      await rename(path, join(own, entry.name))
      moved.push(entry.name)
    }
  }
  return moved
}

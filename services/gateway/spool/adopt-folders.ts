import { mkdir, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Log } from '#runtime/log.ts'
import {
  erasedPath,
  inspectSegment,
  isEphemeralPath,
  isReadable,
  segmentSuffix,
  type Segment,
} from './segment.ts'
import { isAbandoned, isFull, isMissing, overwriteLock, writeLock } from './spool-lock.ts'

const folderPrefix = 'worker-'
const incomingPrefix = 'incoming-'
const setAsideFolder = 'set-aside'

export interface OwnFolder {
  folder: string
  /** Segments that it held already, by name; none once they are adopted. */
  left: string[]
}

/** Makes and locks this process's folder in `directory`. On a full disk it takes one whose process is gone, with what that holds. */
export async function createFolder(directory: string, name: string, nowMs: number): Promise<OwnFolder> {
  // Locked before it has its name: nobody sees it without an owner.
  const hidden = join(directory, `.${name}`)
  const folder = join(directory, folderPrefix + name)
  try {
    await mkdir(hidden, { recursive: true, mode: 0o700 })
    await writeLock(hidden)
    await rename(hidden, folder)
    return { folder, left: [] }
  } catch (error) {
    if (!isFull(error)) throw error
    await rm(hidden, { recursive: true, force: true })
    const left = await claimFolder(directory, folder, nowMs)
    if (left === undefined) throw error
    return { folder, left }
  }
}

/** Without it nothing could be sent, and what waits to be sent may be what fills the disk. */
async function claimFolder(directory: string, folder: string, nowMs: number): Promise<string[] | undefined> {
  for (const name of await readdir(directory)) {
    const abandoned = join(directory, name)
    if (!name.startsWith(folderPrefix) || !(await isAbandoned(abandoned, nowMs))) continue
    try {
      // Before it is renamed, so that it never seems abandoned by its new name; and after, because another may have written there too.
      await overwriteLock(abandoned)
      await rename(abandoned, folder)
      await overwriteLock(folder)
      return (await readdir(folder)).filter((file) => file.endsWith(segmentSuffix))
    } catch (error) {
      // Another gateway has it, or it has no lock that could be written over.
      if (!isMissing(error)) throw error
    }
  }
  return undefined
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
  /** How many lie in `set-aside/`: of another version, for the gateway that can read them. */
  setAside: number
}

/** Moves the segments of folders whose process is gone into `own`, as long as there is room, and looks at them and at what it held. */
export async function adoptSegments(
  directory: string,
  own: OwnFolder,
  { now, hasRoom, log }: AdoptOptions,
): Promise<AdoptedSegments> {
  const adopted: AdoptedSegments = { segments: [], damaged: 0, setAside: 0 }
  const readable = await takeReadable(directory, own.folder)
  for (const path of [...readable, ...(await adoptFolders(directory, own, { now, hasRoom }))]) {
    const { segment, problem } = await inspectSegment(path)
    if (problem !== null) log.error({ segment: path, problem }, 'a spool segment cannot be read to its end')
    if (problem === 'damaged') adopted.damaged++
    if (problem === 'another version') await setAside(directory, path)
    else adopted.segments.push(segment)
  }
  adopted.setAside = (await namesSetAside(directory)).length
  return adopted
}

async function setAside(directory: string, path: string): Promise<void> {
  const aside = join(directory, setAsideFolder)
  await mkdir(aside, { recursive: true, mode: 0o700 })
  await rename(path, join(aside, basename(path)))
}

async function namesSetAside(directory: string): Promise<string[]> {
  try {
    return (await readdir(join(directory, setAsideFolder))).filter((name) => name.endsWith(segmentSuffix))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Moves what another version of the gateway set aside, and this one can read, into `own`. */
async function takeReadable(directory: string, own: string): Promise<string[]> {
  const taken: string[] = []
  for (const name of await namesSetAside(directory)) {
    try {
      const path = join(directory, setAsideFolder, name)
      if (!(await isReadable(path))) continue
      await rename(path, join(own, name))
      taken.push(join(own, name))
    } catch (error) {
      // Another gateway beside this one has it.
      if (!isMissing(error)) throw error
    }
  }
  return taken
}

/**
 * Renaming a folder is what claims it, so of two gateways that come together one has it. Gives the paths of what was
 * adopted, oldest first.
 */
async function adoptFolders(
  directory: string,
  { folder: own, left }: OwnFolder,
  { now, hasRoom }: Omit<AdoptOptions, 'log'>,
): Promise<string[]> {
  for (const name of await readdir(directory)) {
    const folder = join(directory, name)
    if (!name.startsWith(folderPrefix) || folder === own || !(await isAbandoned(folder, now()))) continue
    if (!hasRoom(await bytesIn(folder))) continue
    await rename(folder, join(own, incomingPrefix + name)).catch((error: unknown) => {
      if (!isMissing(error)) throw error
    })
  }
  const names = [...left.splice(0), ...(await unpack(own, own))]
    .filter((name) => name.endsWith(segmentSuffix))
    .sort()
  return withoutErased(names.map((name) => join(own, name)))
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

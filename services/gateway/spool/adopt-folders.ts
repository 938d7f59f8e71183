import type { KeyObject } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import {
  erasedPath,
  inspectSegment,
  isEphemeralPath,
  moveNote,
  removeStrays,
  segmentSuffix,
  type Segment,
} from './segment.ts'
import {
  boundSetAside,
  findReadable,
  setAside,
  type OnFailure,
  type SetAside,
  type SetAsideLimits,
} from './set-aside.ts'
import { isAbandoned, isFull, isMissing, overwriteLock, writeLock } from './spool-lock.ts'

const folderPrefix = 'worker-'
const incomingPrefix = 'incoming-'

export interface OwnFolder {
  folder: string
  /** Segments that lie in it and are not adopted yet, by name. */
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

interface AdoptOptions extends SetAsideLimits {
  key: KeyObject | undefined
  /** Whether there is room for so many bytes more; then they are taken. */
  reserve: (byteLength: number) => boolean
}

/** Room for folders beside `usedBytes`: for one at least when nothing is used. */
export function budgetFrom(usedBytes: number, maxBytes: number): AdoptOptions['reserve'] {
  let used = usedBytes
  return (byteLength) => {
    if (used > 0 && used + byteLength > maxBytes) return false
    used += byteLength
    return true
  }
}

/** What adoption brought. */
export interface AdoptedSegments {
  /** Oldest first. */
  segments: Segment[]
  /** How many of them cannot be read to their end. */
  damaged: number
  /** Of another version, for the gateway that can read them. */
  aside: SetAside
  /** Why something could not be taken; the next adoption tries again. Undefined: all could. */
  failed: Error | undefined
}

/** Moves the segments of folders whose process is gone into `own`, as long as there is room, and looks at them and at what it held. */
export async function adoptSegments(
  directory: string,
  own: OwnFolder,
  options: AdoptOptions,
): Promise<AdoptedSegments> {
  const { key, log } = options
  const aside = { segments: 0, bytes: 0 }
  const adopted: AdoptedSegments = { segments: [], damaged: 0, aside, failed: undefined }
  const onFailure: OnFailure = (path, error) => {
    log.error({ err: error, path }, 'what a gateway left cannot be adopted; it is tried again')
    adopted.failed ??= error instanceof Error ? error : new Error(String(error))
  }
  await takeReadable(directory, own, onFailure)
  await claimFolders(directory, own, { ...options, onFailure })
  // A note may have come without its segment where that could not be moved yet.
  if (await unpack(own.folder, own, onFailure))
    await removeStrays(own.folder).catch((error: unknown) => {
      onFailure(own.folder, error)
    })
  const paths = await withoutErased(own.left.sort().map((name) => join(own.folder, name)))
  own.left = []
  for (const path of paths) {
    try {
      const { segment, problem } = await inspectSegment(path, key)
      if (problem !== null) log.error({ segment: path, problem }, 'a spool segment cannot be read to its end')
      if (segment.isForeign) log.error({ segment: path, records: segment.unsent }, sealedOtherwise)
      if (problem === 'another version') await setAside(directory, path)
      else adopted.segments.push(segment)
      if (problem === 'damaged') adopted.damaged++
    } catch (error) {
      own.left.push(basename(path))
      onFailure(path, error)
    }
  }
  adopted.aside = await boundSetAside(directory, options, onFailure)
  return adopted
}

const sealedOtherwise =
  'records are sealed under another SPOOL_KEY: they stay in this file until a gateway is started with that one'

/** Moves what another version of the gateway set aside, and this one can read, into `own`. */
async function takeReadable(directory: string, own: OwnFolder, onFailure: OnFailure): Promise<void> {
  for (const path of await findReadable(directory, onFailure)) {
    const name = basename(path)
    try {
      // Before its note: others may be at it too, and who gets the segment gets both.
      await rename(path, join(own.folder, name))
      own.left.push(name)
      await moveNote(path, own.folder)
    } catch (error) {
      // Another gateway beside this one has it.
      if (!isMissing(error)) onFailure(path, error)
    }
  }
}

interface ClaimOptions extends Pick<AdoptOptions, 'now' | 'reserve'> {
  onFailure: OnFailure
}

/** Renaming a folder is what claims it, so of two gateways that come together one has it. */
async function claimFolders(
  directory: string,
  { folder: own }: OwnFolder,
  { now, reserve, onFailure }: ClaimOptions,
): Promise<void> {
  for (const name of await readdir(directory)) {
    const folder = join(directory, name)
    if (!name.startsWith(folderPrefix) || folder === own) continue
    try {
      if (!(await isAbandoned(folder, now())) || !reserve(await bytesIn(folder))) continue
      await rename(folder, join(own, incomingPrefix + name))
    } catch (error) {
      if (!isMissing(error)) onFailure(folder, error)
    }
  }
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
 * Moves what lies in claimed folders into `own`; a process can be killed while it adopts, so they may hold claimed ones in turn. Only
 * what is moved is left to adopt: other segments appear in `own` meanwhile, because it is written to. Whether all was moved.
 */
async function unpack(folder: string, own: OwnFolder, onFailure: OnFailure): Promise<boolean> {
  let isEmpty = true
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    try {
      if (entry.isDirectory() && entry.name.startsWith(incomingPrefix)) {
        if (await unpack(path, own, onFailure)) await rm(path, { recursive: true })
        else isEmpty = false
      } else if (folder !== own.folder && entry.name.includes(segmentSuffix)) {
        await rename(path, join(own.folder, entry.name))
        if (entry.name.endsWith(segmentSuffix)) own.left.push(entry.name)
      }
    } catch (error) {
      isEmpty = false
      onFailure(path, error)
    }
  }
  return isEmpty
}

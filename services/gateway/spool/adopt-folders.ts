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
  /** Names of segments in the folder that are not adopted yet. */
  left: string[]
}

/**
 * Creates and locks this process's folder in `directory`. On a full disk it claims an abandoned one with its
 * content.
 */
export async function createFolder(directory: string, name: string, nowMs: number): Promise<OwnFolder> {
  // Locked before it is renamed, so that it never appears without an owner.
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

/** Without a folder nothing could be sent, and unsent records may be what fills the disk. */
async function claimFolder(directory: string, folder: string, nowMs: number): Promise<string[] | undefined> {
  for (const name of await readdir(directory)) {
    const abandoned = join(directory, name)
    if (!name.startsWith(folderPrefix) || !(await isAbandoned(abandoned, nowMs))) continue
    try {
      // Lock before the rename, so that the new name never appears abandoned; and after, as another process
      // may have written its lock.
      await overwriteLock(abandoned)
      await rename(abandoned, folder)
      await overwriteLock(folder)
      return (await readdir(folder)).filter((file) => file.endsWith(segmentSuffix))
    } catch (error) {
      // Another gateway claimed it, or its lock cannot be overwritten.
      if (!isMissing(error)) throw error
    }
  }
  return undefined
}

interface AdoptOptions extends SetAsideLimits {
  key: KeyObject | undefined
  /** Reserves bytes if there is space for them. */
  reserve: (byteLength: number) => boolean
}

/** Space for folders beside `usedBytes`; always for one when nothing is used. */
export function budgetFrom(usedBytes: number, maxBytes: number): AdoptOptions['reserve'] {
  let used = usedBytes
  return (byteLength) => {
    if (used > 0 && used + byteLength > maxBytes) return false
    used += byteLength
    return true
  }
}

/** The result of an adoption. */
export interface AdoptedSegments {
  /** Oldest first. */
  segments: Segment[]
  /** Number of segments that are damaged. */
  damaged: number
  /** Segments of another version. */
  aside: SetAside
  /** Why something could not be adopted; undefined if all was. The next adoption tries again. */
  failed: Error | undefined
}

/** Moves segments of abandoned folders into `own` while there is space, and inspects all that `own` holds. */
export async function adoptSegments(
  directory: string,
  own: OwnFolder,
  options: AdoptOptions,
): Promise<AdoptedSegments> {
  const { key, log } = options
  const aside = { segments: 0, bytes: 0 }
  const adopted: AdoptedSegments = { segments: [], damaged: 0, aside, failed: undefined }
  const onFailure: OnFailure = (path, error) => {
    log.error({ err: error, path }, 'the folder of an ended gateway cannot be adopted; will retry')
    adopted.failed ??= error instanceof Error ? error : new Error(String(error))
  }
  await takeReadable(directory, own, onFailure)
  await claimFolders(directory, own, { ...options, onFailure })
  // A note may have been moved without its segment.
  if (await unpack(own.folder, own, onFailure))
    await removeStrays(own.folder).catch((error: unknown) => {
      onFailure(own.folder, error)
    })
  const paths = await withoutErased(own.left.sort().map((name) => join(own.folder, name)))
  own.left = []
  for (const path of paths) {
    try {
      const { segment, problem } = await inspectSegment(path, key)
      if (problem !== null) log.error({ segment: path, problem }, 'a spool segment cannot be read completely')
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
  'records are encrypted with another SPOOL_KEY: they stay on disk until a gateway has that key'

/** Moves set-aside segments that this version can read into `own`. */
async function takeReadable(directory: string, own: OwnFolder, onFailure: OnFailure): Promise<void> {
  for (const path of await findReadable(directory, onFailure)) {
    const name = basename(path)
    try {
      // The segment before its note: a move of the segment takes both.
      await rename(path, join(own.folder, name))
      own.left.push(name)
      await moveNote(path, own.folder)
    } catch (error) {
      // Another gateway moved it.
      if (!isMissing(error)) onFailure(path, error)
    }
  }
}

interface ClaimOptions extends Pick<AdoptOptions, 'now' | 'reserve'> {
  onFailure: OnFailure
}

/** The rename is the claim: of two gateways, one succeeds. */
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
    // Another gateway claimed it.
    if (isMissing(error)) return 0
    throw error
  }
}

/** A process killed while erasing may leave both the segment with bodies and the one without. */
async function withoutErased(paths: readonly string[]): Promise<string[]> {
  const all = new Set(paths)
  const isErased = (path: string) => isEphemeralPath(path) && all.has(erasedPath(path))
  await Promise.all(paths.filter(isErased).map((path) => unlink(path)))
  return paths.filter((path) => !isErased(path))
}

/**
 * Moves the content of claimed folders into `own`; returns whether all was moved. A claimed folder may
 * contain others if its process was killed while adopting. Only moved segments are adopted, as `own` is also
 * written to.
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

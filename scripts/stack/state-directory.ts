import { createReadStream, createWriteStream } from 'node:fs'
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { codeOf, messageOf } from '#runtime/errors.ts'

/** Increased when an older Sluice could not use a newer one's directory. */
const STATE_VERSION = 1
const LEAST_FREE_BYTES = 512 * 1024 * 1024
const LARGEST_LOG_BYTES = 32 * 1024 * 1024
const LARGEST_LIVE_LOG_BYTES = 256 * 1024 * 1024

export interface StatePaths {
  directory: string
  connection: string
  secrets: string
  project: string
  /** The supervisor and its processes: see stack-record.ts. */
  record: string
  spool: string
  logs: string
  log: (process: string) => string
  data: (part: string) => string
}

export function statePaths(directory: string): StatePaths {
  return {
    directory,
    connection: join(directory, 'connection.json'),
    secrets: join(directory, 'secrets.json'),
    project: join(directory, 'project.json'),
    record: join(directory, 'processes.json'),
    spool: join(directory, 'spool'),
    logs: join(directory, 'logs'),
    log: (process) => join(directory, 'logs', `${process}.log`),
    data: (part) => join(directory, 'data', part),
  }
}

/**
 * Creates the directory or checks that this version may use it. Throws {@link CannotStart} if it may not, or
 * if the disk is nearly full.
 */
export async function openState(directory: string): Promise<StatePaths> {
  const paths = statePaths(directory)
  await mkdir(paths.logs, { recursive: true })
  await mkdir(join(directory, 'data'), { recursive: true })
  await mkdir(paths.spool, { recursive: true, mode: 0o700 })
  const versionFile = join(directory, 'version')
  const version = Number((await readIfThere(versionFile)) ?? STATE_VERSION)
  if (!(version <= STATE_VERSION)) {
    throw new CannotStart(
      `${directory} was written by a newer version of Sluice (state version ${version}, this one knows ${STATE_VERSION}): update this checkout, or choose another directory with --state DIR.`,
    )
  }
  const freeBytes = await freeBytesOf(directory)
  if (freeBytes < LEAST_FREE_BYTES) {
    const free = Math.floor(freeBytes / 1024 / 1024)
    throw new CannotStart(
      `The disk of ${directory} is full (${free} MiB left, 512 are needed): free some space and start again.`,
    )
  }
  await writeFile(versionFile, `${STATE_VERSION}\n`)
  return paths
}

/** Replaces the file atomically, readable by its owner only. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  const next = `${file}.${process.pid}.next`
  await writeFile(next, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  await chmod(next, 0o600)
  await rename(next, file)
}

/** A file of a stack that scripts/up started. Throws CannotStart, with the variables to set `instead`. */
export async function readWritten<T>(file: string, instead: string): Promise<T> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T
  } catch (error) {
    throw new CannotStart(
      `cannot read ${file} (${messageOf(error)}): name a running stack with --state, or set ${instead}`,
    )
  }
}

/** Undefined if there is no such file. */
export async function readJson(file: string): Promise<unknown> {
  const text = await readIfThere(file)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new CannotStart(
      `${file} is damaged (${error.message}): restore it, or start afresh with another --state DIR.`,
    )
  }
}

/** Moves a log that exceeds 32 MiB to `<file>.1`. Only while no process writes to it. */
export async function rotateLog(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (!found || found.size < LARGEST_LOG_BYTES) return
  await rm(`${file}.1`, { force: true })
  await rename(file, `${file}.1`)
}

/**
 * Keeps logs in use from filling the disk. From each that is too large, copies the last 32 MiB to `<file>.1`,
 * or on a nearly full disk what half of the free space takes, and truncates it in any case. Writers append
 * and so continue at the start. A line written between copy and truncation is lost.
 */
export async function cutLogs(
  directory: string,
  largestBytes = LARGEST_LIVE_LOG_BYTES,
  freeBytes = freeBytesOf,
): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith('.log')) continue
    const file = join(directory, name)
    const { size } = await stat(file)
    if (size < largestBytes) continue
    // Removes the previous copy first to free space.
    await rm(`${file}.1`, { force: true })
    const kept = Math.min(size, LARGEST_LOG_BYTES, Math.floor((await freeBytes(directory)) / 2))
    if (kept > 0)
      await pipeline(createReadStream(file, { start: size - kept }), createWriteStream(`${file}.1`))
    await truncate(file)
  }
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

import { readFileSync } from 'node:fs'
import { open, readdir, readFile, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { codeOf } from '#runtime/errors.ts'

const lockSchema = z.object({ pid: z.number().int(), host: z.string(), started: z.string().nullable() })

const lockName = 'lock'
/** Only the age of another host's lock is visible. Its owner touches it every 10 s. */
const foreignStaleMs = 60_000
export const touchEveryMs = 10_000

/** Marks `folder` as owned by this process. */
export async function writeLock(folder: string): Promise<void> {
  await writeFile(join(folder, lockName), ownLock(), { mode: 0o600 })
}

/** Overwrites an existing lock, which needs no disk space. */
export async function overwriteLock(folder: string): Promise<void> {
  const file = await open(join(folder, lockName), 'r+')
  try {
    const { size } = await file.stat()
    // Spaces overwrite the rest of a longer lock.
    await file.write(ownLock().padEnd(size), 0)
  } finally {
    await file.close()
  }
}

function ownLock(): string {
  return JSON.stringify({ pid: process.pid, host: hostname(), started: startOf(process.pid) })
}

export async function touchLock(folder: string, nowMs: number): Promise<void> {
  await utimes(join(folder, lockName), nowMs / 1_000, nowMs / 1_000)
}

/** Whether the owner of `folder` has ended. A folder without a readable lock has no owner. */
export async function isAbandoned(folder: string, nowMs: number): Promise<boolean> {
  const path = join(folder, lockName)
  try {
    const lock = lockSchema.safeParse(JSON.parse(await readFile(path, 'utf8')))
    if (!lock.success) return true
    const { pid, host, started } = lock.data
    if (host !== hostname()) return nowMs - (await stat(path)).mtimeMs > foreignStaleMs
    // Process ids are reused, above all when a container restarts; the start time tells them apart.
    return !isAlive(pid) || startOf(pid) !== started
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return true
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** Start time of a process in kernel ticks; null without /proc or without such a process. */
function startOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Field 22. The second field, the name in brackets, may contain anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ESRCH'].includes(codeOf(error))
}

export function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
}

/** Releases the folder for adoption; removes it if empty. */
export async function releaseFolder(folder: string): Promise<void> {
  await rm(join(folder, lockName), { force: true })
  const left = await readdir(folder)
  if (left.length === 0) await rmdir(folder)
}

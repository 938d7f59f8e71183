import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, messageOf } from '#runtime/errors.ts'
import type { System } from './find-system.ts'
import { ok, problem, skipped, warning, type Finding } from './finding.ts'

const mebibyte = 1024 * 1024
/** The default of the gateway's SPOOL_MAX_BYTES. */
const defaultMaxBytes = 1024 * mebibyte
/** Below this a disk counts as full: segments are a few MiB. */
const minFreeBytes = 64 * mebibyte
const lateMs = 300_000
const remedyOfAge = 'docs/runbooks/SluiceSpoolOld.md'

/** Whether the gateway can write its spool, the free space, and how much has waited since when. */
export async function examineSpool({ config, now }: System): Promise<Finding[]> {
  const { SPOOL_DIR: directory, SPOOL_MAX_BYTES: maxBytes = defaultMaxBytes } = config
  if (directory === undefined)
    return [skipped('spool', 'SPOOL_DIR is not set: run this where a gateway runs')]
  const broken = await examineDirectory(directory)
  if (broken !== undefined) return [broken]
  const { bytes, oldestMs, segments } = await measure(directory)
  const { bavail, bsize } = await statfs(directory)
  const free = bavail * bsize
  const room = examineFreeSpace(directory, free, maxBytes - bytes)
  const held = `${segments} segments of ${mib(bytes)} in ${directory}`
  if (oldestMs === undefined) return [room, ok('spool', `${held}, all sent`)]
  const ageMs = now() - oldestMs
  const what = `${held}, the oldest ${Math.round(ageMs / 1_000)} s old`
  return [room, ageMs > lateMs ? warning('spool', what, remedyOfAge) : ok('spool', what)]
}

async function examineDirectory(directory: string): Promise<Finding | undefined> {
  const probe = join(directory, `.doctor-${randomBytes(4).toString('hex')}`)
  try {
    const { mode } = await stat(directory)
    await writeFile(probe, 'x', { mode: 0o600 })
    await rm(probe)
    if ((mode & 0o007) === 0) return undefined
    const what = `${directory} is open to everybody on this host (mode ${(mode & 0o777).toString(8)})`
    return warning('spool', what, `chmod 700 ${directory}: records hold what people wrote`)
  } catch (error) {
    // Most likely it was never created; the reason matters.
    await rm(probe, { force: true }).catch(() => undefined)
    const what = `${directory} cannot be written: ${messageOf(error)}`
    const remedy = ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
      ? 'free space on its disk: calls go on meanwhile and are not recorded'
      : "make it, or give it to the gateway's user: calls go on meanwhile and are not recorded"
    return problem('spool', what, remedy)
  }
}

function examineFreeSpace(directory: string, free: number, mayGrow: number): Finding {
  const what = `${mib(free)} are free where ${directory} lies, and it may grow by ${mib(Math.max(0, mayGrow))}`
  if (free < minFreeBytes) return problem('spool', what, 'free space on its disk: records will be lost')
  if (free < mayGrow) return warning('spool', what, 'a larger disk, or a smaller SPOOL_MAX_BYTES')
  return ok('spool', what)
}

/** Contents of the directory, and the age of the oldest segment that was not completely sent. */
async function measure(directory: string): Promise<{ bytes: number; segments: number; oldestMs?: number }> {
  const names = await readdir(directory, { recursive: true })
  const found = await Promise.all(
    names.filter((name) => name.endsWith('.segment')).map((name) => measureSegment(join(directory, name))),
  )
  // An empty segment has nothing that waits.
  const full = found.filter((one) => one.size > 0)
  const waiting = full.filter((one) => one.sent < one.size).map((one) => one.mtimeMs)
  return {
    bytes: full.reduce((sum, one) => sum + one.size, 0),
    segments: full.length,
    ...(waiting.length === 0 ? {} : { oldestMs: Math.min(...waiting) }),
  }
}

/** A gateway keeps its current segment, sent or not, with a note of how far it was sent. */
async function measureSegment(path: string): Promise<{ size: number; mtimeMs: number; sent: number }> {
  const note = await readFile(`${path}.sent`, 'utf8').catch(() => '')
  // Sent and removed meanwhile.
  const { size, mtimeMs } = await stat(path).catch(() => ({ size: 0, mtimeMs: 0 }))
  // Parsed like in the gateway (segment.ts).
  return { size, mtimeMs, sent: Number.parseInt(note, 10) || 0 }
}

function mib(bytes: number): string {
  return `${Math.round(bytes / mebibyte)} MiB`
}

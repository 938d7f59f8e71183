import { createHmac, randomBytes } from 'node:crypto'
import { createMask, maskProgram, type MaskTask } from '#detectors/masking/create-mask.ts'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { createTaskThreads } from '#runtime/task-threads.ts'
import { projectNamedBy } from '../delivery/route-records.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { ProjectSettings } from '../projects/ask-project.ts'
import type { FindProject } from '../projects/project-directory.ts'

/** What leaves the process of each record, in order: itself, or masked. Never rejects. */
export type MaskRecords = (records: readonly Buffer[]) => readonly Buffer[] | Promise<readonly Buffer[]>

/** Masks one record in a thread. Never rejects. */
export interface Masking {
  mask(record: Buffer, key: Buffer): Promise<Buffer>
  stop(): Promise<void>
}

interface MaskingOptions {
  clock: Clock
  log: Log
  metrics: Pick<GatewayMetrics, 'masked'>
}

/** A record of two bodies of 4 MiB takes about a second. */
const limits = { processorMs: 10_000, wallMs: 120_000 }
const maxHeapMb = 400

export function createMasking({ clock, log, metrics }: MaskingOptions): Masking {
  const threads = createTaskThreads<MaskTask>({
    ...{ program: maskProgram, threads: 1, limits, maxHeapMb, clock },
    onError: (error) => log.error({ err: error }, 'a record could not be masked: its bodies are left out'),
  })
  const mask = createMask((task) => threads.run(task))
  return {
    async mask(record, key) {
      const masked = await mask(record, key)
      metrics.masked(masked.isDropped ? 'dropped' : 'masked')
      return masked.record
    },
    stop: () => threads.stop(),
  }
}

interface MaskRecordsOptions {
  /** Of the project of SERVICE_API_KEY: undefined while not known. Absent without that key. */
  ownSettings: (() => ProjectSettings | undefined) | undefined
  /** Of other projects, asked as the operator. Absent without INTERNAL_API_SECRET. */
  findOther: FindProject | undefined
  masking: Pick<Masking, 'mask'>
}

/**
 * Masks the records of projects that ask for it, and of those whose setting is unknown. Records of other
 * projects are passed on as they are, at once.
 */
export function createMaskRecords({ ownSettings, findOther, masking }: MaskRecordsOptions): MaskRecords {
  // Placeholders under it are alike only within this process.
  const ownKey = randomBytes(32)
  // A record is sent until it is taken: masked once, unless its project's key became known.
  const done = new WeakMap<Buffer, { key: Buffer | undefined; masked: Promise<Buffer> }>()

  const settingsOf = (record: Buffer): Settings | Promise<Settings> => {
    const named = projectNamedBy(record)
    const own = ownSettings?.()
    if (named === undefined || named === own?.projectId) return own
    // No such project: what becomes of the record is not known.
    return findOther?.(named).then(
      (found) => found ?? undefined,
      () => undefined,
    )
  }
  const keep = (record: Buffer, settings: Settings): Buffer | Promise<Buffer> => {
    if (settings !== undefined && settings.masks !== true) return record
    const last = done.get(record)
    if (last !== undefined && last.key === settings?.maskKey) return last.masked
    const key = settings?.maskKey ?? fallbackKey(ownKey, settings?.projectId ?? projectNamedBy(record))
    const masked = masking.mask(record, key)
    done.set(record, { key: settings?.maskKey, masked })
    return masked
  }
  return (records) => {
    const kept = records.map((record) => {
      const settings = settingsOf(record)
      return settings instanceof Promise ? settings.then((its) => keep(record, its)) : keep(record, settings)
    })
    return kept.every((one) => Buffer.isBuffer(one))
      ? kept
      : Promise.all(kept.map((one) => Promise.resolve(one)))
  }
}

/** Undefined: not known. */
type Settings = ProjectSettings | undefined

function fallbackKey(ownKey: Buffer, projectId = ''): Buffer {
  return createHmac('sha256', ownKey).update(projectId).digest()
}

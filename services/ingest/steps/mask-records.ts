import { createHmac, randomBytes } from 'node:crypto'
import { createMaskKeys, type MaskKeyOf } from '#capture/masking/mask-key.ts'
import { createMask, maskProgram, type MaskTask } from '#detectors/masking/create-mask.ts'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { createTaskThreads } from '#runtime/task-threads.ts'

/** Masks records of projects that ask for it, before anything of them is stored or published. */
export interface Masking {
  /** What a gateway has masked is masked again: a sender's word for it proves nothing. Never rejects. */
  mask(record: Buffer, projectId: string): Promise<Buffer>
  stop(): Promise<void>
}

interface MaskingOptions {
  /** SEARCH_KEY. */
  keys: readonly { key: Buffer }[]
  clock: Clock
  log: Log
  metrics: Metrics
}

/** A record of 10 MiB takes about a second. */
const limits = { processorMs: 10_000, wallMs: 120_000 }
const maxHeapMb = 400

export function createMasking({ keys, clock, log, metrics }: MaskingOptions): Masking {
  const records = metrics.counter(
    'sluice_ingest_masked_records_total',
    'Records of projects that mask: `masked`, or `dropped` where masking took too long or failed: both bodies were left out.',
    ['outcome'],
  )
  const threads = createTaskThreads<MaskTask>({
    ...{ program: maskProgram, threads: 1, limits, maxHeapMb, clock },
    onError: (error) => log.error({ err: error }, 'a record could not be masked: its bodies are left out'),
  })
  const mask = createMask((task) => threads.run(task))
  const keyOf = createMaskKeys(keys) ?? createOwnKeys()
  return {
    async mask(record, projectId) {
      const { record: masked, isDropped } = await mask(record, keyOf(projectId))
      records.inc({ outcome: isDropped ? 'dropped' : 'masked' })
      return masked
    },
    stop: () => threads.stop(),
  }
}

/** Without SEARCH_KEY placeholders are alike only within this process. */
function createOwnKeys(): MaskKeyOf {
  const key = randomBytes(32)
  return (projectId) => createHmac('sha256', key).update(projectId).digest()
}

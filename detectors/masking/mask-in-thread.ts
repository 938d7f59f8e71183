import { parentPort } from 'node:worker_threads'
import type { MaskTask } from './create-mask.ts'
import { maskRecord } from './mask-record.ts'

/** The whole program of a masking thread: one answer for each record. */
parentPort?.on('message', ({ record, key }: MaskTask) => {
  const masked = maskRecord(Buffer.from(record), Buffer.from(key))
  parentPort?.postMessage(new Uint8Array(masked))
})

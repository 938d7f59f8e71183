import type { MaskFault } from './mask-body.ts'
import { dropBodies } from './mask-record.ts'

/** What a masking thread gets. */
export interface MaskTask {
  record: Uint8Array
  key: Uint8Array
}

/** Runs a task in a thread of `maskProgram`: its answer, or why there is none. */
export type RunMaskTask = (task: MaskTask) => Promise<{ value: unknown } | { fault: MaskFault }>

export const maskProgram = new URL('mask-in-thread.ts', import.meta.url)

/** `dropped`: both bodies are gone, since masking took too long or failed. */
export interface MaskedRecord {
  record: Buffer
  isDropped: boolean
}

/** Masks a record off the event loop. What cannot be masked leaves without its bodies. Never rejects. */
export type MaskRecord = (record: Buffer, key: Buffer) => Promise<MaskedRecord>

export function createMask(run: RunMaskTask): MaskRecord {
  return async (record, key) => {
    const done = await run({ record, key })
    if ('fault' in done) return { record: dropBodies(record, done.fault), isDropped: true }
    const { buffer, byteOffset, byteLength } = done.value as Uint8Array
    return { record: Buffer.from(buffer, byteOffset, byteLength), isDropped: false }
  }
}

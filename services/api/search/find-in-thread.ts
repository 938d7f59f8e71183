import { workerData } from 'piscina'
import { findInCall, type Excerpt } from '#capture/search/find-in-call.ts'
import { readSearch } from '#capture/search/search-query.ts'
import type { EncryptionKey } from '#runtime/encryption-keys.ts'
import { createSealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedBytes } from '#schemas/sealed-bytes.ts'
import type { SealedCall } from '../stores/search-store.ts'

/** Calls to look through, as plain data. */
export interface FindTask {
  projectId: string
  /** The text of the search. */
  text: string
  calls: readonly SealedCall[]
}

/** For each call: its excerpts, null where a term is missing, `unreadable` where a key is. */
export type FoundInCalls = (Excerpt[] | null | 'unreadable')[]

const { keys } = workerData as { keys: readonly EncryptionKey[] }
const sealer = createSealer(keys)

/** The function of the thread: opens the bodies and looks for the terms. */
export function findInThread({ projectId, text, calls }: FindTask): FoundInCalls {
  const terms = readSearch(text) ?? []
  const open = (sealed: SealedBytes | null, id: string, part: 'request_body' | 'response_body') =>
    sealed === null
      ? null
      : Buffer.from(sealer.open(sealed, sealedIdentity(projectId, id, part))).toString('utf8')
  return calls.map(({ id, request, response }) => {
    let bodies
    try {
      bodies = { request: open(request, id, 'request_body'), response: open(response, id, 'response_body') }
    } catch {
      return 'unreadable'
    }
    return findInCall(terms, bodies) ?? null
  })
}

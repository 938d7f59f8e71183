import type { BatchDisposition } from './read-results.ts'
import type { QueuedRecord } from './record-queue.ts'

/** The result of searching a batch that was rejected as a whole. */
export interface Search {
  /**
   * Whether the API accepted any record. If not, the cause may be the key, the address or something before
   * the API.
   */
  isOpen: boolean
  /** Rejected alone, while others were accepted before and after. */
  poison: readonly QueuedRecord[]
  /** Undecided. */
  left: readonly QueuedRecord[]
}

export interface FindPoisonDependencies {
  post: (records: readonly QueuedRecord[]) => Promise<BatchDisposition>
  /** Called with the API's decision on each record. */
  decided: (records: readonly QueuedRecord[], disposition: BatchDisposition & { kind: 'results' }) => void
  tooLarge: (record: QueuedRecord) => void
}

/**
 * Records tried alone before all are considered blocked: a wrong key must not cost one request per record.
 */
const maxProbes = 8

/**
 * Bisects a batch for records that something before the API (a web application firewall, a proxy) rejects.
 */
export async function findPoisonRecords(
  batch: readonly QueuedRecord[],
  { post, decided, tooLarge }: FindPoisonDependencies,
): Promise<Search> {
  const alone: QueuedRecord[] = []
  const left: QueuedRecord[] = []
  let isAway = false

  const tryAll = async (records: readonly QueuedRecord[]): Promise<void> => {
    const [first] = records
    if (first === undefined) return
    const disposition = isAway ? undefined : await post(records)
    if (disposition?.kind === 'results') decided(records, disposition)
    else if (disposition === undefined || !mayBeOneRecord(disposition)) {
      // Not caused by a record; the next batch will see it too.
      isAway = true
      left.push(...records)
    } else if (records.length > 1) {
      await tryAll(records.slice(0, records.length >> 1))
      await tryAll(records.slice(records.length >> 1))
    } else if (disposition.kind === 'too_large') tooLarge(first)
    else alone.push(first)
  }

  const open = await findTaken(batch, { post, decided })
  if (open === undefined) return { isOpen: false, poison: [], left: batch }
  await tryAll(batch.filter((record) => record !== open))
  // Post an accepted record again, which stores nothing, to verify that the API was reachable throughout.
  const isProven = alone.length > 0 && left.length === 0 && (await post([open])).kind === 'results'
  if (isProven) return { isOpen: true, poison: alone, left }
  return { isOpen: true, poison: [], left: [...alone, ...left] }
}

/** Tries some records alone, spread over the batch; returns the first accepted one. */
async function findTaken(
  batch: readonly QueuedRecord[],
  { post, decided }: Pick<FindPoisonDependencies, 'post' | 'decided'>,
): Promise<QueuedRecord | undefined> {
  if (batch.length === 1) return undefined
  const stride = Math.max(1, batch.length / maxProbes)
  // Random positions, as all of these may be rejected.
  for (let at = Math.random() * stride; at < batch.length; at += stride) {
    const record = batch[Math.floor(at)]
    if (record === undefined) continue
    const disposition = await post([record])
    if (disposition.kind === 'results') {
      decided([record], disposition)
      return record
    }
    if (!mayBeOneRecord(disposition)) return undefined
  }
  return undefined
}

/** Whether the answer may be caused by one of several records. */
function mayBeOneRecord(disposition: BatchDisposition): boolean {
  return (
    disposition.kind === 'refused' ||
    disposition.kind === 'too_large' ||
    (disposition.kind === 'again' && disposition.isFault)
  )
}

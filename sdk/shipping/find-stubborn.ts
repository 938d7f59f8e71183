import type { BatchDisposition } from './read-results.ts'
import type { QueuedRecord } from './record-queue.ts'

/** What became of a batch that was refused as a whole, without a word on its records. */
export interface Search {
  /** Whether any record was decided by the API; if not, nothing is known of any: it may be the key, the address, or what stands before the API. */
  isOpen: boolean
  /** Refused alone, while others were decided before and after. */
  stubborn: readonly QueuedRecord[]
  /** Not decided. */
  left: readonly QueuedRecord[]
}

export interface FindStubbornDependencies {
  post: (records: readonly QueuedRecord[]) => Promise<BatchDisposition>
  /** Told what the API decided of each of the records. */
  decided: (records: readonly QueuedRecord[], disposition: BatchDisposition & { kind: 'results' }) => void
  tooLarge: (record: QueuedRecord) => void
}

/** So many records are tried alone before all are taken for held up: a wrong key must not cost a post a record. */
const maxProbes = 8

/** Finds the records that something on the way (a firewall for applications, a proxy) refuses for what they hold, by halves. */
export async function findStubborn(
  batch: readonly QueuedRecord[],
  { post, decided, tooLarge }: FindStubbornDependencies,
): Promise<Search> {
  const alone: QueuedRecord[] = []
  const left: QueuedRecord[] = []
  let isAway = false

  const tryAll = async (records: readonly QueuedRecord[]): Promise<void> => {
    const [first] = records
    if (first === undefined) return
    const disposition = isAway ? undefined : await post(records)
    if (disposition?.kind === 'results') decided(records, disposition)
    else if (disposition === undefined || !saysNoneOf(disposition)) {
      // Not the records' doing: the next batch meets it again.
      isAway = true
      left.push(...records)
    } else if (records.length > 1) {
      await tryAll(records.slice(0, records.length >> 1))
      await tryAll(records.slice(records.length >> 1))
    } else if (disposition.kind === 'too_large') tooLarge(first)
    else alone.push(first)
  }

  const open = await findTaken(batch, { post, decided })
  if (open === undefined) return { isOpen: false, stubborn: [], left: batch }
  await tryAll(batch.filter((record) => record !== open))
  // Once more what is stored already: whether the way was open all the time. It is stored once.
  const isProven = alone.length > 0 && left.length === 0 && (await post([open])).kind === 'results'
  if (isProven) return { isOpen: true, stubborn: alone, left }
  return { isOpen: true, stubborn: [], left: [...alone, ...left] }
}

/** A record of the batch that is decided when it is sent alone, of some spread over it. */
async function findTaken(
  batch: readonly QueuedRecord[],
  { post, decided }: Pick<FindStubbornDependencies, 'post' | 'decided'>,
): Promise<QueuedRecord | undefined> {
  if (batch.length === 1) return undefined
  const stride = Math.max(1, batch.length / maxProbes)
  // Not always the same: all of these may be refused.
  for (let at = Math.random() * stride; at < batch.length; at += stride) {
    const record = batch[Math.floor(at)]
    if (record === undefined) continue
    const disposition = await post([record])
    if (disposition.kind === 'results') {
      decided([record], disposition)
      return record
    }
    if (!saysNoneOf(disposition)) return undefined
  }
  return undefined
}

/** Whether the answer may be due to one record of several. */
function saysNoneOf(disposition: BatchDisposition): boolean {
  return (
    disposition.kind === 'refused' ||
    disposition.kind === 'too_large' ||
    (disposition.kind === 'again' && disposition.isFault)
  )
}

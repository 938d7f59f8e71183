import { TransientError } from '#runtime/errors.ts'
import { NotTaken, type PostRecords, type Verdict } from './post-records.ts'

/** So often a 500 is waited out: with the sender's pauses about a minute. */
const patientTries = 10
const maxCounted = 1_000

/**
 * A record that makes the API service fail must not hold up those behind it for ever. A batch that is answered 500 again and again is posted one by
 * one; what is answered 500 twice more while another is taken is refused. 503 and silence say nothing of a record.
 */
export function rejectStubborn(post: PostRecords): PostRecords {
  const countFailure = createFailureCounts()
  return async (records) => {
    let verdicts: Verdict[]
    try {
      verdicts = await post(records)
    } catch (error) {
      const [first] = records
      if (!isFault(error) || first === undefined || records.length === 1) throw error
      if (countFailure(first) % patientTries !== 0) throw error
      return postOneByOne(post, records, error)
    }
    if (!verdicts.some(isDecided)) return verdicts
    return verdicts.map((verdict, index) => {
      const record = records[index]
      if (verdict.kind !== 'later' || verdict.status !== 500 || record === undefined) return verdict
      return countFailure(record) < patientTries ? verdict : refusedFor('the record is answered 500')
    })
  }
}

async function postOneByOne(
  post: PostRecords,
  records: readonly Buffer[],
  failure: NotTaken,
): Promise<Verdict[]> {
  const verdicts = await tryEach(post, records)
  if (!verdicts.some((verdict) => verdict !== undefined && isDecided(verdict))) throw failure
  for (const [index, verdict] of verdicts.entries()) {
    const record = records[index]
    if (verdict?.kind !== 'later' || verdict.status !== 500 || record === undefined) continue
    // Once more: it may have been a fault of that moment.
    const [again] = await tryEach(post, [record])
    const isStubborn = again?.kind === 'later' && again.status === 500
    verdicts[index] = isStubborn ? refusedFor(failure.message) : again
  }
  return records.map((_record, index) => verdicts[index] ?? { kind: 'later' })
}

/** Ends at the first that is not answered, or not because of what it holds. */
async function tryEach(post: PostRecords, records: readonly Buffer[]): Promise<(Verdict | undefined)[]> {
  const verdicts: (Verdict | undefined)[] = []
  for (const record of records) {
    try {
      verdicts.push(...(await post([record])))
    } catch (error) {
      if (!(error instanceof TransientError)) throw error
      if (!isFault(error)) return verdicts
      verdicts.push({ kind: 'later', status: 500 })
    }
  }
  return verdicts
}

function isFault(error: unknown): error is NotTaken {
  return error instanceof NotTaken && error.status === 500
}

function isDecided({ kind }: Verdict): boolean {
  return kind !== 'later'
}

function refusedFor(detail: string): Verdict {
  return { kind: 'refused', status: 500, detail }
}

/** How often each record was answered 500; the oldest are forgotten. */
function createFailureCounts(): (record: Buffer) => number {
  const counts = new Map<string, number>()
  return (record) => {
    // The identifier stands at the start.
    const start = record.toString('latin1', 0, 100)
    const count = (counts.get(start) ?? 0) + 1
    counts.delete(start)
    counts.set(start, count)
    const [oldest] = counts.keys()
    if (counts.size > maxCounted && oldest !== undefined) counts.delete(oldest)
    return count
  }
}

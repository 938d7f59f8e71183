import { TransientError } from '#runtime/errors.ts'
import { NotTaken, type PostRecords, type Verdict } from './post-records.ts'

/** So often a 500 or a break is waited out: with the sender's pauses about a minute. A firewall that says so does not change its mind. */
const maxTries = 10
const maxFirewallTries = 3
const maxCounted = 1_000
/** So many records are tried alone before all are taken for held up: a gateway that is locked out must not knock once a record. */
const maxProbes = 8
/** A longer one is not kept to be sent again. */
const maxProbeBytes = 64 * 1024

/**
 * A record that makes the API service fail, or that a firewall before it refuses, must not hold up those behind it for ever. A batch that is
 * answered so again and again is posted one by one; what is answered so each time that it is tried, while another is taken, is refused. 503 and silence say
 * nothing of a record.
 */
export function rejectPoisonRecords(post: PostRecords): PostRecords {
  const countFailure = createFailureCounts()
  /** The last that was taken: sent again it stores nothing, and shows whether any would be. */
  let knownGood: Buffer | undefined
  return async (records) => {
    let verdicts: Verdict[]
    try {
      verdicts = await post(records)
    } catch (error) {
      const [first] = records
      if (!isFault(error) || first === undefined) throw error
      // That an empty record passes shows less than a real one does.
      const isAlone = records.length === 1 && knownGood === undefined
      const tries = isFromFirewall(error) && !isAlone ? maxFirewallTries : maxTries
      if (countFailure(first) % tries !== 0) throw error
      const known = await findTaken(post, knownGood === undefined ? probesOf(records, error) : [knownGood])
      if (known === undefined) throw error
      return postOneByOne(post, records, { known, detail: error.message })
    }
    knownGood = records.find((record, at) => isUsableProbe(record, verdicts[at])) ?? knownGood
    if (!verdicts.some(isDecided)) return verdicts
    return verdicts.map((verdict, index) => {
      const record = records[index]
      if (!isSuspect(verdict) || record === undefined) return verdict
      return countFailure(record) < maxTries
        ? verdict
        : refusedFor(verdict.status, 'the record is answered 500')
    })
  }
}

function isUsableProbe(record: Buffer, verdict: Verdict | undefined): boolean {
  return verdict?.kind === 'taken' && record.length <= maxProbeBytes
}

/** No record: that the service itself says so (422) shows that the firewall lets through what is sent to it. */
const emptyRecord = Buffer.from('{}')

/**
 * Some, spread over all, and not always the same: those may be the stubborn ones. A record alone, as the last of a gateway before this one,
 * would wait for ever; of a service that fails it shows nothing.
 */
function probesOf(records: readonly Buffer[], error: NotTaken): Buffer[] {
  if (records.length === 1) return isFromFirewall(error) ? [emptyRecord] : []
  const count = Math.min(maxProbes, records.length)
  const positions = Array.from({ length: count }, (_, at) => ((at + Math.random()) * records.length) / count)
  return positions.flatMap((place) => records[Math.floor(place)] ?? [])
}

/** The first that the service decides when it is sent alone. */
async function findTaken(post: PostRecords, probes: readonly Buffer[]): Promise<Buffer | undefined> {
  for (const probe of probes) {
    const [verdict] = await tryEach(post, [probe])
    if (verdict === undefined) return undefined
    if (isDecided(verdict)) return probe
  }
  return undefined
}

async function postOneByOne(
  post: PostRecords,
  records: readonly Buffer[],
  { known, detail }: { known: Buffer; detail: string },
): Promise<Verdict[]> {
  const verdicts = await tryEach(post, records)
  for (const [index, verdict] of verdicts.entries()) {
    const record = records[index]
    if (record !== undefined && isSuspect(verdict)) verdicts[index] = await tryAgain(post, record, verdict)
  }
  // And the way must be open still: a service that began to fail meanwhile says nothing of those behind.
  const isProven = verdicts.some(isSuspect) && (await findTaken(post, [known])) !== undefined
  return records.map((_record, index) => {
    const verdict = verdicts[index]
    return isProven && isSuspect(verdict)
      ? refusedFor(verdict.status, detail)
      : (verdict ?? { kind: 'later' })
  })
}

/** It may have been a fault of that moment; where half of the API's processes are broken, of many a moment. */
async function tryAgain(post: PostRecords, record: Buffer, failed: Suspect): Promise<Verdict | undefined> {
  let verdict: Verdict | undefined = failed
  const tries = isFromFirewall(failed) ? 1 : maxTries
  for (let n = 0; n < tries && isSuspect(verdict); n++) [verdict] = await tryEach(post, [record])
  return verdict
}

type Suspect = Verdict & { kind: 'later'; status: number | null }

function isSuspect(verdict: Verdict | undefined): verdict is Suspect {
  return verdict?.kind === 'later' && verdict.status !== undefined
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
      verdicts.push({ kind: 'later', status: error.status })
    }
  }
  return verdicts
}

function isFault(error: unknown): error is NotTaken {
  return error instanceof NotTaken && error.isFault
}

/** By its own word. Of a 500 or a break the service itself may be the cause, and of that moment. */
function isFromFirewall({ status }: Pick<NotTaken, 'status'>): boolean {
  return status !== null && status !== 500
}

function isDecided({ kind }: Verdict): boolean {
  return kind !== 'later'
}

function refusedFor(status: number | null, detail: string): Verdict {
  return { kind: 'refused', status, detail }
}

/** How often each record was answered so; the oldest are forgotten. */
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

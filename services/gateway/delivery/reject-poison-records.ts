import { TransientError } from '#runtime/errors.ts'
import { NotTaken, type PostRecords, type Verdict } from './post-records.ts'

/**
 * Tries after a 500 or a broken connection: about a minute with the sender's pauses. A firewall needs fewer,
 * as it does not change its mind.
 */
const maxTries = 10
const maxFirewallTries = 3
const maxCounted = 1_000
/**
 * Records tried alone before all are considered blocked: a gateway that is locked out must not send one
 * request per record.
 */
const maxProbes = 8
/** A longer record is not kept as a probe. */
const maxProbeBytes = 64 * 1024

/**
 * Keeps poison records from blocking those behind them. Such a record crashes the API service, or a firewall
 * refuses it. A batch that keeps failing is posted one record at a time. A record is refused when it fails
 * every time while another is accepted. A 503 or silence says nothing about a record.
 */
export function rejectPoisonRecords(post: PostRecords): PostRecords {
  const countFailure = createFailureCounts()
  /** The last accepted record. Sending it again stores nothing, and shows whether the service accepts any. */
  let knownGood: Buffer | undefined
  return async (records) => {
    let verdicts: Verdict[]
    try {
      verdicts = await post(records)
    } catch (error) {
      const [first] = records
      if (!isFault(error) || first === undefined) throw error
      // An accepted empty record proves less than an accepted real one.
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

/** An empty record: the service's own 422 shows that the firewall lets requests through. */
const emptyRecord = Buffer.from('{}')

/**
 * A random spread over the batch, so that not all of them are poison. A single record is probed with an empty
 * one, which proves something only about a firewall.
 */
function probesOf(records: readonly Buffer[], error: NotTaken): Buffer[] {
  if (records.length === 1) return isFromFirewall(error) ? [emptyRecord] : []
  const count = Math.min(maxProbes, records.length)
  const positions = Array.from({ length: count }, (_, at) => ((at + Math.random()) * records.length) / count)
  return positions.flatMap((place) => records[Math.floor(place)] ?? [])
}

/** The first probe that the service decides on. */
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
  // The service must still accept records: a failure that began meanwhile says nothing about these.
  const isProven = verdicts.some(isSuspect) && (await findTaken(post, [known])) !== undefined
  return records.map((_record, index) => {
    const verdict = verdicts[index]
    return isProven && isSuspect(verdict)
      ? refusedFor(verdict.status, detail)
      : (verdict ?? { kind: 'later' })
  })
}

/** Retries a record that failed: the cause may be temporary, or half of the API's processes may be broken. */
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

/** Stops at the first record that gets no answer, or fails for a reason other than its content. */
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

/** A firewall answers with its own status. A 500 or a broken connection may be the service's fault. */
function isFromFirewall({ status }: Pick<NotTaken, 'status'>): boolean {
  return status !== null && status !== 500
}

function isDecided({ kind }: Verdict): boolean {
  return kind !== 'later'
}

function refusedFor(status: number | null, detail: string): Verdict {
  return { kind: 'refused', status, detail }
}

/** Counts failures of each record; forgets the oldest. */
function createFailureCounts(): (record: Buffer) => number {
  const counts = new Map<string, number>()
  return (record) => {
    // The identifier is at the start.
    const start = record.toString('latin1', 0, 100)
    const count = (counts.get(start) ?? 0) + 1
    counts.delete(start)
    counts.set(start, count)
    const [oldest] = counts.keys()
    if (counts.size > maxCounted && oldest !== undefined) counts.delete(oldest)
    return count
  }
}

import { describeRecord, readCall, type ReadCall } from '#capture/record/describe-record.ts'
import { outgoingCall } from '#capture/record/outgoing-call.ts'
import { readBodies, type CallBodies, type RecordFault } from '#capture/record/read-bodies.ts'
import { recordSchema } from '#capture/record/record-schema.ts'
import type { SignCall } from '#capture/search/search-signature.ts'
import { parseJson } from '#capture/json.ts'
import type { PriceTable } from '#capture/price-table.ts'
import { messageOf, PermanentError, TransientError } from '#runtime/errors.ts'
import type { Encoder, OutgoingRecord, Producer } from '#runtime/kafka/records.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { traceContextOf, type TraceContext } from '#runtime/tracing/tracing.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { newId } from '#schemas/ids.ts'
import { requestLimitOf } from '#schemas/tiers.ts'
import type { ProjectSettings } from '../projects/ask-project.ts'
import type { FindProject } from '../projects/project-directory.ts'
import type { PostRecords, Verdict } from './post-records.ts'

/** A topic for calls, with its encoder. */
export interface CallTopic {
  name: string
  encoder: Encoder<LoggedCall>
}

export interface PublishOptions {
  producer: Producer
  sealer: Sealer
  /** Makes search signatures. */
  sign: SignCall
  logged: CallTopic
  ephemeral: CallTopic
  prices: PriceTable
  findProject: FindProject
  /** Posts records of projects whose tier has a limit: admission belongs to ingest. */
  post: PostRecords
  now: () => number
}

/**
 * Publishes records as ingest would: same checks, same derived fields, same topics. Throws TransientError
 * when none can be accepted now.
 */
export function createPublishRecords(options: PublishOptions): PostRecords {
  return async (records) => {
    const decided = await Promise.all(records.map((record) => decide(options, record)))
    const limited = records.filter((_record, index) => decided[index] === 'limited')
    const posted = limited.length === 0 ? [] : await postOrLater(options.post, limited)
    const verdicts = decided.map((verdict) => (verdict === 'limited' ? (posted.shift() ?? later) : verdict))
    const failure = verdicts.find((verdict) => verdict instanceof TransientError)
    if (failure !== undefined && verdicts.every((verdict) => verdict instanceof TransientError)) throw failure
    return verdicts.map((verdict) => (verdict instanceof TransientError ? later : verdict))
  }
}

const later: Verdict = { kind: 'later' }

async function postOrLater(
  post: PostRecords,
  records: readonly Buffer[],
): Promise<(Verdict | TransientError)[]> {
  try {
    return await post(records)
  } catch (error) {
    if (!(error instanceof TransientError)) throw error
    return records.map(() => error)
  }
}

async function decide(options: PublishOptions, json: Buffer): Promise<Verdict | TransientError | 'limited'> {
  const read = readRecord(json, options.now())
  if (Array.isArray(read)) return refused(read)
  const { call: record, ...bodies } = read
  let project: ProjectSettings | null
  try {
    project = await options.findProject(record.fields.project_id)
  } catch (error) {
    return new TransientError('BACKEND_UNAVAILABLE', `the project settings are unknown: ${messageOf(error)}`)
  }
  if (project === null) return refused([{ path: 'project_id', message: 'there is no such project' }])
  // The project has begun to mask since the record was looked at.
  if (project.masks === true && record.fields.masked === null) return later
  if (requestLimitOf[project.tier] !== null) return 'limited'
  const settings = { projectId: project.projectId, zeroContentRetention: project.isEphemeral }
  const call: LoggedCall = {
    ...describeRecord(record, settings, project.tier, options.prices),
    id: record.fields.id ?? newId('request', options.now()),
    request_body: null,
    response_body: null,
    received_at: options.now(),
    preview: null,
    search: null,
  }
  return publish(
    options,
    traceContextOf(record.fields),
    outgoingCall(
      call,
      { ...bodies, preview: record.preview },
      (bytes, identity) => options.sealer.seal(bytes, identity),
      options.sign,
    ),
  )
}

function readRecord(json: Buffer, nowMs: number): (CallBodies & { call: ReadCall }) | RecordFault[] {
  const parsed = recordSchema.safeParse(parseJson(json.toString('utf8')))
  if (!parsed.success)
    return parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  const { faults, ...bodies } = readBodies(parsed.data, json, nowMs)
  return faults.length > 0 ? [...faults] : { call: readCall(parsed.data), ...bodies }
}

async function publish(
  { producer, logged, ephemeral }: PublishOptions,
  trace: TraceContext | undefined,
  call: ReturnType<typeof outgoingCall>,
): Promise<Verdict | TransientError> {
  const recordFor = async (topic: CallTopic, value: LoggedCall): Promise<OutgoingRecord> => ({
    topic: topic.name,
    key: value.id,
    value: await topic.encoder.encode(value),
    trace,
  })
  try {
    const records = [recordFor(logged, call.logged)]
    if (call.ephemeral !== null) records.push(recordFor(ephemeral, call.ephemeral))
    await producer.send(await Promise.all(records))
    return { kind: 'taken' }
  } catch (error) {
    if (error instanceof TransientError) return error
    if (error instanceof PermanentError) return { kind: 'refused', status: 413, detail: error.message }
    throw error
  }
}

function refused([first]: readonly RecordFault[]): Verdict {
  return { kind: 'refused', status: 422, detail: `${first?.path ?? ''}: ${first?.message ?? ''}` }
}

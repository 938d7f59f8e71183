import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { Admin } from 'kafkajs'
import { createTopics } from '#infra/create-topics.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { createLog } from '#runtime/log.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { topics } from '#schemas/topics.ts'
import { openLine } from '#tests/support/cuttable-line.ts'
import { startServiceProcess, type ServiceProcess } from '#tests/support/service-process.ts'
import { eventually } from '#tests/support/until.ts'
import { sampleCall, sampleScoredCall } from './testing/sample-records.ts'
import {
  eventuallyCounted,
  setSinkFixture,
  tapTopic,
  type SinkFixture,
  type Tap,
} from './testing/sink-fixture.ts'

jest.setTimeout(420_000)

let fixture: SinkFixture
let directory: string

beforeAll(async () => {
  fixture = await setSinkFixture()
  directory = await mkdtemp(join(tmpdir(), 'sluice-sink-'))
})

afterAll(async () => {
  await fixture.close()
  await rm(directory, { recursive: true, force: true })
})

async function startProcesses(
  count: number,
  label: string,
  changes: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess[]> {
  const ports = await freePorts(count)
  return Promise.all(
    ports.map((operationsPort, index) =>
      startServiceProcess({
        name: 'sink',
        environment: { ...fixture.environment, ...changes },
        operationsPort,
        logFile: join(directory, `${label}-${index}.log`),
      }),
    ),
  )
}

/** A failure that only a slow machine shows is told with what the sinks wrote last. */
async function withOutputs(processes: readonly ServiceProcess[], error: unknown): Promise<Error> {
  const outputs = await Promise.all(processes.map(async (process) => (await process.output()).slice(-3_000)))
  return new Error(`${String(error)}; the sinks wrote last:\n${outputs.join('\n---\n')}`, { cause: error })
}
const stopAll = (processes: readonly ServiceProcess[]) =>
  Promise.all(processes.map((process) => process.stop()))
const tapJobs = () => {
  const codec = fixture.codecOf(topics.scoreJobs)
  return tapTopic(fixture, topics.scoreJobs.name, (bytes) => codec.decode(bytes))
}
const jobIds = (tap: Tap<ScoreJob>, projectId: string) =>
  tap.records.filter(({ value }) => value.project_id === projectId).map(({ value }) => value.request_id)

/** How far the sinks have come on the topic of calls. */
async function committedCalls(admin: Admin): Promise<number> {
  const topic = fixture.prefix + topics.requestLogged.name
  const [offsets] = await admin.fetchOffsets({ groupId: `${fixture.prefix}sink-calls`, topics: [topic] })
  return (offsets?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
}

async function jobsInTopic(admin: Admin): Promise<number> {
  const ends = await admin.fetchTopicOffsets(fixture.prefix + topics.scoreJobs.name)
  return ends.reduce((sum, { high }) => sum + Number(high), 0)
}

async function sendToOnePartition(calls: readonly LoggedCall[]): Promise<void> {
  const codec = fixture.codecOf(topics.requestLogged)
  const values = await Promise.all(calls.map((call) => codec.encode(call)))
  await fixture.send(
    values.map((value) => ({ topic: fixture.prefix + topics.requestLogged.name, key: 'one', value })),
  )
}

async function storedIds(projectId: string): Promise<string[]> {
  const { rows } = await fixture.pool.query<{ id: string }>(
    'select id from llm_requests where project_id = $1',
    [idToUuid(projectId)],
  )
  return rows.map(({ id }) => idFromUuid('request', id))
}

test('kill -9 after the rows are stored and before their jobs are queued loses no job, and a later resend makes none', async () => {
  const admin = fixture.kafka.admin()
  await admin.connect()
  await admin.deleteTopics({ topics: [fixture.prefix + topics.scoreJobs.name] })
  const projectId = await fixture.addProject()
  const calls = Array.from({ length: 50 }, () => sampleCall(projectId))
  const processes = await startProcesses(1, 'between')
  try {
    // One partition: the other ones would wait for the first one's jobs.
    await sendToOnePartition(calls)
    await eventually(
      () => storedIds(projectId),
      (ids) => ids.length === 50,
    )
    const [sink] = processes as [ServiceProcess]
    await sink.killAndRestart()
    await createTopics({
      kafka: fixture.kafka,
      prefix: fixture.prefix,
      replicationFactor: 1,
      log: createLog('test', 'silent'),
    })
    const tap = await tapJobs()
    await eventually(
      () => new Set(jobIds(tap, projectId)),
      (ids) => ids.size === 50,
    )
    // A try that was under way may have queued some of them twice. Once the sink has committed there are no
    // more.
    const before = await eventually(
      async () => ((await committedCalls(admin)) === 50 ? await jobsInTopic(admin) : -1),
      (count) => count >= 50 && tap.records.length === count,
    )
    await sendToOnePartition([...calls, ...Array.from({ length: 60 }, () => sampleCall(projectId))])
    await eventually(
      () => new Set(jobIds(tap, projectId)),
      (ids) => ids.size === 110,
    )
    expect(jobIds(tap, projectId)).toHaveLength(before + 60)
    await tap.stop()
  } finally {
    await stopAll(processes)
    await admin.disconnect()
  }
})

test('two sinks killed one after the other in mid-stream: every call stored once and queued, every score stored once with one event', async () => {
  const projectId = await fixture.addProject()
  const processes = await startProcesses(2, 'stream')
  const tap = await tapJobs()
  const eventCodec = fixture.codecOf(topics.eventRaised)
  const events = await tapTopic(fixture, topics.eventRaised.name, (bytes) => eventCodec.decode(bytes))
  const sent: string[] = []
  const streaming = new AbortController()
  try {
    const stream = (async () => {
      while (!streaming.signal.aborted) {
        const calls = Array.from({ length: 50 }, () => sampleCall(projectId))
        await fixture.sendCalls(calls)
        sent.push(...calls.map(({ id }) => id))
        await sleep(200)
      }
    })()
    for (const sink of processes) {
      await sleep(2_000)
      await sink.killAndRestart()
    }
    streaming.abort()
    await stream
    await eventuallyCounted(() => new Set(jobIds(tap, projectId)).size, sent.length)
    expect((await storedIds(projectId)).toSorted()).toEqual(sent.toSorted())
    await scoreThroughKill(projectId, sent, processes)
    const raised = (name: string) =>
      new Set(
        events.records
          .filter(({ key, value }) => key === projectId && value.event === name)
          .map(({ value }) => value.id),
      ).size
    await eventuallyCounted(() => raised('threat_detected'), sent.length)
    await eventuallyCounted(() => raised('finding_opened'), 1)
    const counted = 'select sum(count)::integer as count from finding_counters where project_id = $1'
    expect((await fixture.pool.query(counted, [idToUuid(projectId)])).rows).toEqual([{ count: sent.length }])
    // Marked in the transaction that published them, which may end after the tap has seen them.
    await eventually(
      () =>
        fixture.pool.query('select from event_outbox where project_id = $1 and published_at is null', [
          idToUuid(projectId),
        ]),
      ({ rowCount }) => rowCount === 0,
    )
  } catch (error) {
    throw await withOutputs(processes, error)
  } finally {
    streaming.abort()
    await Promise.all([tap.stop(), events.stop()])
    await stopAll(processes)
  }
})

/** Kills a sink while it stores the scores of all calls that were sent. */
async function scoreThroughKill(
  projectId: string,
  sent: readonly string[],
  processes: readonly ServiceProcess[],
) {
  const scores = sent.map((id) => sampleScoredCall(sampleCall(projectId, { id })))
  const half = scores.length >> 1
  await fixture.sendScores(scores.slice(0, half))
  await processes[0]?.killAndRestart()
  await fixture.sendScores(scores.slice(half))
  const scored = async () =>
    (await fixture.pool.query('select from safety_scores where project_id = $1', [idToUuid(projectId)]))
      .rowCount ?? 0
  await eventuallyCounted(scored, sent.length)
}

test('Postgres away for a while: nothing is lost, the sink stays up and goes on', async () => {
  const line = await openLine(fixture.environment['DATABASE_URL'] ?? '')
  const processes = await startProcesses(1, 'outage', { DATABASE_URL: line.url })
  const tap = await tapJobs()
  const projectId = await fixture.addProject()
  const sent: string[] = []
  const send = async () => {
    const calls = Array.from({ length: 300 }, () => sampleCall(projectId))
    await fixture.sendCalls(calls)
    sent.push(...calls.map(({ id }) => id))
  }
  try {
    await send()
    line.cut()
    await send()
    const output = () => processes[0]?.output() ?? ''
    await eventually(output, (text) => text.includes('POSTGRES_UNAVAILABLE'))
    await sleep(5_000)
    await send()
    line.mend()
    await eventuallyCounted(() => new Set(jobIds(tap, projectId)).size, 900)
    expect((await storedIds(projectId)).toSorted()).toEqual(sent.toSorted())
    expect(processes[0]?.restarts()).toBe(0)
  } finally {
    await tap.stop()
    await stopAll(processes)
    await line.close()
  }
})

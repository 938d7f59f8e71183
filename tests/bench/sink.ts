import { parseArgs } from 'node:util'
import { newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { topics } from '#schemas/topics.ts'
import { bodyColumns, callColumns } from '#services/sink/stores/call-columns.ts'
import { copyRows } from '#services/sink/stores/copy-rows.ts'
import { placeCall } from '#services/sink/steps/place-call.ts'
import { many, sampleCall } from '#services/sink/testing/sample-records.ts'
import { setSinkFixture, startSink, type SinkFixture } from '#services/sink/testing/sink-fixture.ts'
import { eventually } from '../support/until.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'

/**
 * Rows per second from topic to committed tables (rows, bodies, positions, jobs acknowledged), against COPY
 * of the same rows into the same tables; and a redelivery of the same records, when all exist. CPU time is
 * this process's, which a busy machine hardly changes, without that of Postgres.
 */
const { values } = parseArgs({ options: { records: { type: 'string', default: '20000' } } })
const recordCount = Number(values.records)
const batchRecords = 2_000
const bodyBytes = 2_000

const stopInfrastructure = await openBenchmark()
const fixture = await setSinkFixture()
try {
  const projectId = await fixture.addProject()
  const warmUp = makeCalls(projectId, 4_000)
  await copyAll(warmUp)
  await sinkAll(warmUp)
  const copy = await copyAll(makeCalls(projectId, recordCount))
  const calls = makeCalls(projectId, recordCount)
  const sink = await sinkAll(calls)
  report({ copy, sink, 'all duplicates': await sinkAll(calls) })
} finally {
  await fixture.close()
  await stopInfrastructure()
}

interface Taken {
  tookMs: number
  cpuMs: number
}

/** Starts a measurement; calling the result ends it. */
function startTaking(): () => Taken {
  const [startedMs, before] = [performance.now(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(before)
    return { tookMs: performance.now() - startedMs, cpuMs: (user + system) / 1_000 }
  }
}

function makeCalls(projectId: string, count: number): LoggedCall[] {
  const data = Buffer.alloc(bodyBytes, 'words ')
  const body = { codec: 'none', key_id: null, data }
  return many(count, () =>
    sampleCall(projectId, { id: newId('request'), request_body: body, response_body: body }),
  )
}

/** Lower bound: the same rows and bodies by COPY, in transactions of the same size. */
async function copyAll(calls: readonly LoggedCall[]): Promise<Taken> {
  const placed = calls.map((value) =>
    placeCall({ topic: '', partition: 0, offset: 0n, key: value.id, value, headers: {}, timestampMs: 0 }),
  )
  const client = await fixture.pool.connect()
  try {
    await client.query('select ensure_day_partitions(current_date)')
    const taken = startTaking()
    for (let at = 0; at < placed.length; at += batchRecords) {
      const batch = placed.slice(at, at + batchRecords)
      await client.query('begin')
      await copyRows(client, 'llm_requests', callColumns, batch)
      await copyRows(client, 'llm_request_bodies', bodyColumns, batch)
      await client.query('commit')
    }
    return taken()
  } finally {
    client.release()
  }
}

/** Sends first, then starts a sink. Measures from its assignment to the last position. */
async function sinkAll(calls: readonly LoggedCall[]): Promise<Taken> {
  for (let at = 0; at < calls.length; at += batchRecords)
    await fixture.sendCalls(calls.slice(at, at + batchRecords))
  const expected = await endOf(fixture)
  const sink = await startSink(fixture, { SINK_BATCH_MAX_RECORDS: String(batchRecords) })
  const taken = startTaking()
  await eventually(
    () => positionOf(fixture),
    (position) => position === expected,
  )
  const stored = taken()
  await sink.service.stop()
  return stored
}

async function endOf({ kafka, prefix }: SinkFixture): Promise<bigint> {
  const admin = kafka.admin()
  await admin.connect()
  const ends = await admin.fetchTopicOffsets(prefix + topics.requestLogged.name)
  await admin.disconnect()
  return ends.reduce((sum, { high }) => sum + BigInt(high), 0n)
}

async function positionOf({ pool }: SinkFixture): Promise<bigint> {
  const { rows } = await pool.query<{ sum: string }>(
    'select coalesce(sum(next_offset), 0) as sum from sink_positions',
  )
  return BigInt(rows[0]?.sum ?? 0)
}

function report(taken: Record<'copy' | 'sink' | 'all duplicates', Taken>): void {
  const { copy, sink, 'all duplicates': duplicates } = taken
  const lineOf = ({ tookMs, cpuMs }: Taken) => ({
    'rows/s': Math.round((recordCount / tookMs) * 1_000),
    seconds: ratio(tookMs, 1_000),
    'cpu µs a row': ratio(cpuMs * 1_000, recordCount),
  })
  console.table(Object.fromEntries(Object.entries(taken).map(([name, one]) => [name, lineOf(one)])))
  printFigures('sink', {
    copy_ratio: ratio(copy.tookMs, sink.tookMs),
    duplicates_ratio: ratio(sink.tookMs, duplicates.tookMs),
    cpu_us_per_row: ratio(sink.cpuMs * 1_000, recordCount),
    duplicates_cpu_ratio: ratio(sink.cpuMs, duplicates.cpuMs),
  })
}

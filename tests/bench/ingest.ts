import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { otlpRequest } from '#capture/otel/testing/otlp-request.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { topics } from '#schemas/topics.ts'
import { setSinkFixture, type SinkFixture } from '#services/sink/testing/sink-fixture.ts'
import { cpuOfTree, startBenchProcess } from '../support/bench-process.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import type { LoadOrder, LoadResult } from '../support/http-load.ts'
import { startLocalServer } from '../support/local-server.ts'
import { startServiceProcess } from '../support/service-process.ts'

/**
 * Records per second of ingest at 64 connections, singly and by the hundred, with all its work: keys,
 * validation, derived fields, Avro, encryption. Against Express and kafkajs that only parse and send the same
 * records, and against producing the same bytes without HTTP. Spans by OTLP against batches of the same
 * calls (at least 0.7 of their rate). Single records with the service's own traces against without. Separate
 * processes; what is compared alternates.
 */
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '8' } } })
const seconds = Number(values.seconds)
const connections = 64
const batchRecords = 100
const rounds = 2

interface Target {
  name: string
  url: string
  pid: () => number
  headers: Record<string, string>
}

interface Measured {
  recordsPerS: number
  p99Ms: number
  cpuUsPerRecord: number
}

const record = {
  agent_name: 'bench',
  session_id: 'session-1',
  latency_ms: 812,
  request_body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'words '.repeat(170) }] },
  response_body: {
    model: 'gpt-4o-mini',
    choices: [{ index: 0, message: { role: 'assistant', content: 'words '.repeat(170) } }],
    usage: { prompt_tokens: 200, completion_tokens: 200, total_tokens: 400 },
  },
}
const loads: Record<
  'single' | 'batch' | 'otlp',
  Pick<LoadOrder, 'path' | 'body' | 'connections'> & { records: number }
> = {
  single: { path: '/internal/log', body: JSON.stringify(record), connections, records: 1 },
  batch: {
    path: '/internal/log/batch',
    body: JSON.stringify({ records: Array.from({ length: batchRecords }, () => record) }),
    connections: 8,
    records: batchRecords,
  },
  otlp: {
    path: '/v1/traces',
    body: JSON.stringify(
      otlpRequest(Array.from({ length: batchRecords }, () => ({ attributes: spanOf(record) }))),
    ),
    connections: 8,
    records: batchRecords,
  },
}

/** The same call as the attributes of a span. */
function spanOf({ request_body: request, response_body: response }: typeof record) {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': request.model,
    'gen_ai.response.model': response.model,
    'gen_ai.agent.name': record.agent_name,
    'gen_ai.conversation.id': record.session_id,
    'gen_ai.usage.input_tokens': response.usage.prompt_tokens,
    'gen_ai.usage.output_tokens': response.usage.completion_tokens,
    'gen_ai.input.messages': JSON.stringify(request.messages),
    'gen_ai.output.messages': JSON.stringify(response.choices.map(({ message }) => message)),
  }
}

const stopInfrastructure = await openBenchmark()
const fixture = await setSinkFixture()
const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-ingest-'))
const loader = await startBenchProcess(new URL('../support/http-load.ts', import.meta.url))
const bareProcess = await startBenchProcess(new URL('../support/bare-ingest.ts', import.meta.url), [
  fixture.environment['KAFKA_BROKERS'] ?? '',
  fixture.prefix + topics.requestLogged.name,
])
const traces = await startLocalServer(
  createServer((request, response) => void request.resume().on('end', () => response.writeHead(200).end())),
)
const quiet = await startIngest('ingest', {})
const tracing = await startIngest('ingest-traced', { OTEL_EXPORTER_OTLP_ENDPOINT: traces.url })
try {
  const json = { 'content-type': 'application/json' }
  const key = await addKey(fixture)
  const target = async ({ process, url }: typeof quiet, name: string): Promise<Target> => {
    await process.ready()
    return { name, url, pid: process.pid, headers: { ...json, 'x-service-key': key } }
  }
  const ingest = await target(quiet, 'ingest')
  const traced = await target(tracing, 'ingest with its own traces')
  const bare: Target = {
    name: 'express + kafkajs',
    url: bareProcess.url,
    pid: () => bareProcess.pid,
    headers: json,
  }
  for (const load of [loads.single, loads.batch])
    for (const target of [bare, ingest]) await measure(target, load, 3)
  await measure(ingest, loads.otlp, 3)
  await measure(traced, loads.single, 3)
  const single = await inTurns([bare, loads.single], [ingest, loads.single])
  const batch = await inTurns([bare, loads.batch], [ingest, loads.batch])
  const otlp = await inTurns([ingest, loads.batch], [ingest, loads.otlp])
  const own = await inTurns([ingest, loads.single], [traced, loads.single])
  const raw = await produceRaw(fixture)
  console.table({
    'one record a request, floor': single.floor,
    'one record a request, ingest': single.ingest,
    [`${batchRecords} a request, floor`]: batch.floor,
    [`${batchRecords} a request, ingest`]: batch.ingest,
    [`${batchRecords} spans a request, ingest`]: otlp.ingest,
    'one record a request, with own traces': own.ingest,
    'the same bytes, kafkajs alone': { recordsPerS: raw },
  })
  printFigures('ingest', {
    floor_ratio: ratio(single.ingest.recordsPerS, single.floor.recordsPerS),
    batch_floor_ratio: ratio(batch.ingest.recordsPerS, batch.floor.recordsPerS),
    cpu_us_per_record: single.ingest.cpuUsPerRecord,
    batch_cpu_us_per_record: batch.ingest.cpuUsPerRecord,
    p99_ms_c64: single.ingest.p99Ms,
    otlp_batch_ratio: ratio(otlp.ingest.recordsPerS, otlp.floor.recordsPerS),
    otlp_cpu_us_per_record: otlp.ingest.cpuUsPerRecord,
    own_traces_ratio: ratio(own.ingest.recordsPerS, own.floor.recordsPerS),
    own_traces_cpu_ratio: ratio(own.ingest.cpuUsPerRecord, own.floor.cpuUsPerRecord),
    raw_ratio: ratio(batch.ingest.recordsPerS, raw),
  })
} finally {
  for (const part of [quiet.process, tracing.process, loader, bareProcess, traces]) await part.stop()
  await fixture.close()
  await rm(directory, { recursive: true })
  await stopInfrastructure()
}

/** An ingest in its own process. */
async function startIngest(name: string, own: Readonly<Record<string, string>>) {
  const [port, operationsPort] = (await freePorts(2)) as [number, number]
  const process = await startServiceProcess({
    name: 'ingest',
    environment: {
      ...fixture.environment,
      INGEST_HOST: '127.0.0.1',
      INGEST_PORT: String(port),
      BODY_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      LOG_LEVEL: 'warn',
      ...own,
    },
    operationsPort,
    logFile: join(directory, `${name}.log`),
  })
  return { process, url: `http://127.0.0.1:${port}` }
}

async function addKey({ pool, addProject }: SinkFixture): Promise<string> {
  const projectId = await addProject()
  const digits = randomBytes(24).toString('hex')
  await pool.query(
    `insert into api_keys (id, project_id, name, secret_sha256, last4, created_at) values ($1, $2, 'bench', $3, $4, now())`,
    [
      idToUuid(newId('key')),
      idToUuid(projectId),
      createHash('sha256').update(digits).digest(),
      digits.slice(-4),
    ],
  )
  return `svc_${digits}`
}

async function measure(
  target: Target,
  load: (typeof loads)['single'],
  forSeconds: number,
): Promise<Measured> {
  const { records, ...order } = load
  const cpuBefore = cpuOfTree(target.pid())
  const asked: LoadOrder = { ...order, url: target.url, seconds: forSeconds, headers: target.headers }
  const result = await loader.ask<LoadResult>(asked)
  if (result.failed > 0)
    throw new Error(`${target.name} failed ${result.failed} of ${result.answered} requests`)
  const count = result.answered * records
  return {
    recordsPerS: Math.round(count / result.seconds),
    p99Ms: Number(result.p99Ms.toFixed(2)),
    cpuUsPerRecord: Number(((cpuOfTree(target.pid()) - cpuBefore) / count).toFixed(1)),
  }
}

type Compared = [Target, (typeof loads)['single']]

/** Means of alternating rounds, because the speed of a machine varies. */
async function inTurns(floor: Compared, ingest: Compared) {
  const taken: Record<'floor' | 'ingest', Measured[]> = { floor: [], ingest: [] }
  for (let round = 0; round < rounds; round++) {
    taken.floor.push(await measure(...floor, seconds))
    taken.ingest.push(await measure(...ingest, seconds))
  }
  const mean = (all: readonly Measured[], of: (one: Measured) => number) =>
    Number((all.reduce((sum, one) => sum + of(one), 0) / all.length).toFixed(2))
  const meanOf = (all: readonly Measured[]): Measured => ({
    recordsPerS: mean(all, (one) => one.recordsPerS),
    p99Ms: mean(all, (one) => one.p99Ms),
    cpuUsPerRecord: mean(all, (one) => one.cpuUsPerRecord),
  })
  return { floor: meanOf(taken.floor), ingest: meanOf(taken.ingest) }
}

/** Kafka's rate for the same bytes from one process: five batches in flight, `acks=all`. */
async function produceRaw({ kafka, prefix }: SinkFixture): Promise<number> {
  const producer = kafka.producer()
  await producer.connect()
  const value = Buffer.from(loads.single.body)
  const messages = Array.from({ length: 500 }, () => ({ key: newId('request'), value }))
  const startMs = performance.now()
  let sent = 0
  const send = async () => {
    while (performance.now() - startMs < seconds * 1_000) {
      await producer.send({ topic: prefix + topics.requestLogged.name, acks: -1, messages })
      sent += messages.length
    }
  }
  await Promise.all(Array.from({ length: 5 }, send))
  const perS = Math.round((sent / (performance.now() - startMs)) * 1_000)
  await producer.disconnect()
  return perS
}

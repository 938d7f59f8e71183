import { execFileSync } from 'node:child_process'
import { close as closeFile, open, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { until } from '#tests/support/until.ts'
import { createGatewayMetrics } from '../metrics.ts'
import { Spool } from '../spool/spool.ts'
import type { FinishedCall } from './build-record.ts'
import { createLeftOut } from './left-out.ts'
import { createRecorder, type Recorder } from './recorder.ts'

/** More than Node's threads for files and compression. */
const pipes = 16
const log = createLog('recorder-test', 'silent')

/** Blocks all of Node's threads, as a hanging disk does, until the result is called. */
function hangThreads(directory: string): () => Promise<void> {
  const paths = Array.from({ length: pipes }, (_, n) => join(directory, `pipe-${n}`))
  execFileSync('mkfifo', paths)
  // Opening a pipe blocks until its other end is opened.
  const opened = Promise.all(paths.map((path) => promisify(open)(path, 'r')))
  return async () => {
    const ends = paths.map((path) => openSync(path, 'r+'))
    for (const file of [...ends, ...(await opened)]) await promisify(closeFile)(file)
  }
}

let directory: string
let spool: Spool
let told: () => Promise<string>
let record: Recorder

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-recorder-'))
  const registry = createMetrics()
  told = () => registry.registry.metrics()
  spool = new Spool({
    directory,
    name: 'own',
    key: undefined,
    maxBytes: 1024 * 1024,
    maxAsideBytes: 1_000_000,
    maxWaitingBytes: 1024 * 1024,
    stripBodies: (whole) => whole,
    now: Date.now,
    log,
    onLost: (reason) => {
      throw new Error(`a record is lost: ${reason}`)
    },
  })
  await spool.open()
  const metrics = createGatewayMetrics(registry)
  record = createRecorder({
    leftOut: createLeftOut(() => undefined),
    spool,
    maxBodyBytes: 1_000,
    waitMs: 20,
    metrics,
    log,
  })
})
afterEach(async () => {
  await spool.close()
  await rm(directory, { recursive: true })
})

/** Building the record of compressed bodies takes a while. */
function callOf({ isCompressed, isEphemeral = false }: { isCompressed: boolean; isEphemeral?: boolean }) {
  const json = Buffer.from('{"answer":"yes"}')
  const bytes = isCompressed ? gzipSync(json) : json
  const whole = { bytes, byteLength: bytes.length, sha256: null }
  const contentEncoding = isCompressed ? 'gzip' : ''
  const call: FinishedCall = {
    id: 'req_1',
    caller: { projectId: undefined, isEphemeral },
    path: '/v1/chat/completions',
    upstream: { hostname: 'provider.test', provider: undefined },
    labels: {},
    request: whole,
    requestEncoding: contentEncoding,
    answer: { ...whole, contentType: 'application/json', contentEncoding },
    status: 200,
    latencyMs: 1,
    arrivals: null,
    abortedBy: null,
    error: null,
  }
  return call
}

test('an answer whose body waits to be decoded ends in time, and is recorded when it can be', async () => {
  let isReleased = false
  const goOn = hangThreads(directory)
  try {
    await record(callOf({ isCompressed: true }), () => (isReleased = true))
    // Bytes still to be decoded count as used.
    expect(isReleased).toBe(false)
    expect(await told()).toContain('sluice_gateway_slow_disk_total 1')
  } finally {
    await goOn()
  }
  await until(() => spool.depth().records === 1)
  expect(isReleased).toBe(true)
  const batch = await spool.take(1, 1_000)
  expect(batch?.records.map(String).join()).toContain('"response_body":{"answer":"yes"}')
})

test.each([
  [false, false],
  [false, true],
  [true, false],
  [true, true],
])(
  'compressed: %s, of a project that keeps no content: %s: where its bodies stand on disk',
  async (isCompressed, isEphemeral) => {
    let releases = 0
    await record(callOf({ isCompressed, isEphemeral }), () => releases++)
    await until(() => spool.depth().records === 1)
    expect(await spool.take(1, 1_000)).toMatchObject({ isEphemeral, count: 1 })
    expect(releases).toBe(1)
  },
)

test.each([false, true])(
  'a call that no record can be made of (compressed: %s) is counted, and holds nothing',
  async (isCompressed) => {
    const released = Promise.withResolvers<undefined>()
    const call = { ...callOf({ isCompressed }), labels: undefined as unknown as FinishedCall['labels'] }
    await record(call, () => released.resolve(undefined))
    await released.promise
    await until(async () => (await told()).includes('sluice_gateway_records_lost_total{reason="defect"} 1'))
  },
)

test.each([false, true])(
  'a stream that a defect of ours cannot read (compressed: %s) is recorded as it came, and counted',
  async (isCompressed) => {
    const text = 'data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"evidence"}}]}\n\n'
    const bytes = isCompressed ? gzipSync(text) : Buffer.from(text)
    const call = callOf({ isCompressed })
    const parse = JSON.parse
    JSON.parse = (json: string) => {
      if (json !== text.slice('data: '.length, -2)) return parse(json) as unknown
      throw new TypeError('a defect')
    }
    try {
      const answer = { ...call.answer, bytes, byteLength: bytes.length, sha256: null }
      await record(
        {
          ...call,
          answer: { ...answer, contentType: 'text/event-stream', contentEncoding: call.requestEncoding },
        },
        () => undefined,
      )
      await until(() => spool.depth().records === 1)
    } finally {
      JSON.parse = parse
    }
    const batch = await spool.take(1, 1_000)
    expect(parse(String(batch?.records[0]))).toMatchObject({
      response_body: { raw: text, encoding: 'utf8', joined: [] },
    })
    expect(await told()).toContain('sluice_gateway_unread_streams_total 1')
    expect(await told()).not.toContain('records_lost_total{reason="defect"} 1')
  },
)

import { execFileSync } from 'node:child_process'
import { close as closeFile, open, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { until } from '#tests/support/until.ts'
import { createGatewayMetrics } from '../metrics.ts'
import { Spool } from '../spool/spool.ts'
import type { FinishedCall } from './build-record.ts'
import { createRecorder } from './recorder.ts'

/** More than Node has threads for files and compression. */
const pipes = 16
const log = createLog('recorder-test', 'silent')

/** Holds up whatever needs a thread, as a disk that hangs does, until the result is called. */
function hangThreads(directory: string): () => Promise<void> {
  const paths = Array.from({ length: pipes }, (_, n) => join(directory, `pipe-${n}`))
  execFileSync('mkfifo', paths)
  // To open a pipe waits for its other end.
  const opened = Promise.all(paths.map((path) => promisify(open)(path, 'r')))
  return async () => {
    const ends = paths.map((path) => openSync(path, 'r+'))
    for (const file of [...ends, ...(await opened)]) await promisify(closeFile)(file)
  }
}

test('an answer whose body waits to be decoded ends in time, and is recorded when it can be', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-recorder-'))
  const registry = createMetrics()
  const metrics = createGatewayMetrics(registry)
  const spool = new Spool({
    directory,
    name: 'own',
    key: undefined,
    maxBytes: 1024 * 1024,
    maxAsideBytes: 1_000_000,
    maxWaitingBytes: 1024 * 1024,
    stripBodies: (record) => record,
    now: Date.now,
    log,
    onLost: (reason) => {
      throw new Error(`a record is lost: ${reason}`)
    },
  })
  await spool.open()
  const record = createRecorder({ spool, upstreamHost: 'h', maxBodyBytes: 1_000, waitMs: 20, metrics, log })
  const bytes = gzipSync('{"answer":"yes"}')
  const whole = { bytes, byteLength: bytes.length, sha256: null }
  const call: FinishedCall = {
    id: 'req_1',
    caller: { projectId: undefined, isEphemeral: false },
    path: '/v1/chat/completions',
    labels: {},
    request: whole,
    requestEncoding: 'gzip',
    answer: { ...whole, contentType: 'application/json', contentEncoding: 'gzip' },
    status: 200,
    latencyMs: 1,
    timeToFirstByteMs: 1,
    abortedBy: null,
    error: null,
  }
  let isReleased = false
  const goOn = hangThreads(directory)
  try {
    await record(call, () => (isReleased = true))
    // The bytes that are still to be decoded count as held.
    expect(isReleased).toBe(false)
    expect(await registry.registry.metrics()).toContain('sluice_gateway_slow_disk_total 1')
  } finally {
    await goOn()
  }
  await until(() => spool.depth().records === 1)
  expect(isReleased).toBe(true)
  const batch = await spool.take(1, 1_000)
  expect(batch?.records.map(String).join()).toContain('"response_body":{"answer":"yes"}')
  await spool.close()
  await rm(directory, { recursive: true })
})

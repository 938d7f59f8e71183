import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import type { Log } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { drainSpool, useSpools } from '#tests/support/spool-fixture.ts'
import { until } from '#tests/support/until.ts'
import { createGatewayMetrics } from '../metrics.ts'
import type { Spool } from '../spool/spool.ts'
import { createLeftOut } from './left-out.ts'
import { createRecorder } from './recorder.ts'

const world = useSpools()

function startRecorder(spool: Spool, waitMs: number) {
  const registry = createMetrics()
  const logged: { err?: Error; request_id: string; message: string }[] = []
  const error = (fields: { request_id: string }, message: string) => logged.push({ ...fields, message })
  const record = createRecorder({
    leftOut: createLeftOut(() => undefined),
    spool,
    maxBodyBytes: 4 * 1024 * 1024,
    waitMs,
    metrics: createGatewayMetrics(registry),
    log: { error } as unknown as Log,
  })
  const call = (id: string, text: string) => {
    const bytes = Buffer.from(JSON.stringify({ text }))
    return record(
      {
        id,
        caller: { projectId: undefined, isEphemeral: false },
        path: '/v1/chat/completions',
        upstream: { hostname: 'provider.test', provider: undefined },
        labels: {},
        request: { bytes, byteLength: bytes.length, sha256: null },
        requestEncoding: '',
        answer: null,
        status: 200,
        latencyMs: 1,
        arrivals: null,
        abortedBy: null,
        error: null,
      },
      () => undefined,
    )
  }
  const recorded = () => registry.registry.getSingleMetricAsString('sluice_gateway_recorded_total')
  return { call, logged, recorded }
}

test('of records that are written together only the one without room is refused, and named with its reason', async () => {
  const spool = await world.open({ maxBytes: 1024 * 1024 })
  const { call, logged, recorded } = startRecorder(spool, 60_000)
  await Promise.all([call('req_1', 'a'), call('req_2', 'b'.repeat(2 * 1024 * 1024)), call('req_3', 'c')])
  expect(world.lost).toEqual([['spool_write', 1]])
  expect(await recorded()).toMatch(/ 2$/m)
  expect(logged).toMatchObject([{ request_id: 'req_2', message: 'the spool did not take a record' }])
  expect(logged[0]?.err?.message).toContain("exceed the spool's limit")
  const found = (await drainSpool(spool)).map((text) => (JSON.parse(text) as { id: string }).id)
  expect(found).toEqual(['req_1', 'req_3'])
  await spool.close()
})

test('a write that fails after its answer has ended says why', async () => {
  const spool = await world.open()
  const allowed = Promise.withResolvers<undefined>()
  const append = spool.append.bind(spool)
  jest.spyOn(spool, 'append').mockImplementation(async (record) => {
    await allowed.promise
    return append(record)
  })
  const { call, logged, recorded } = startRecorder(spool, 1)
  await call('req_1', 'a')
  expect(logged.map(({ message }) => message)).toEqual([
    'the spool is slow: an answer ended before its record was on disk',
  ])
  const [folder = ''] = await readdir(world.directory)
  await rm(join(world.directory, folder), { recursive: true })
  allowed.resolve(undefined)
  await until(() => logged.length === 2)
  expect(logged[1]).toMatchObject({ request_id: 'req_1', message: 'the spool did not take a record' })
  expect(logged[1]?.err?.message).toContain('ENOENT')
  expect(await recorded()).toMatch(/ 0$/m)
})

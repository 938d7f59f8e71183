import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { MockAgent } from 'undici'
import { maxParts } from '#capture/json.ts'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { until } from '#tests/support/until.ts'
import type { GatewayConfig } from '../config.ts'
import { createGatewayMetrics } from '../metrics.ts'
import { createCallers } from '../traffic/create-callers.ts'
import { createStripBodies, withoutBodies } from '../recording/without-bodies.ts'
import type { StripBodies } from '../spool/erase-bodies.ts'
import { isMissing } from '../spool/spool-lock.ts'
import { Spool } from '../spool/spool.ts'
import type { PostRecords, Verdict } from './post-records.ts'
import { createKeptRecords } from './kept-records.ts'
import { Sender } from './sender.ts'

/** Zero-retention records on an unencrypted disk, so that a test can search for their content. */
const minuteMs = 60_000
const log = createLog('gateway-test', 'silent')
let directory: string
let nowMs: number
let names = 0
let lost: string[]
const now = () => nowMs

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-zero-'))
  nowMs = Date.now()
  lost = []
})
afterEach(async () => {
  await rm(directory, { recursive: true })
  expect(lost).toEqual([])
})

async function openSpool(stripBodies: StripBodies = withoutBodies): Promise<Spool> {
  const spool = new Spool({
    directory,
    name: `z${names++}`,
    key: undefined,
    maxBytes: 64 * 1024 * 1024,
    maxAsideBytes: 1_000_000,
    maxWaitingBytes: 64 * 1024 * 1024,
    stripBodies,
    now,
    tickMs: 10,
    log,
    onLost: (reason, records) => {
      lost.push(`${records} ${reason}`)
    },
  })
  await spool.open()
  return spool
}

const recordOf = (id: string) =>
  Buffer.from(
    `{"id":"${id}","source":"gateway","error":"ValueError: QUOTED","request_body":{"model":"gpt-4o","messages":[{"role":"user","content":"SECRET"}]},` +
      `"response_body":{"object":"chat.completion","model":"gpt-4o-1","usage":{"prompt_tokens":3,"prompt_tokens_details":{"cache_write_tokens":2},"completion_tokens":4}}}`,
  )
const erased = (id: string) => ({
  id,
  source: 'gateway',
  error: 'ValueError',
  model: 'gpt-4o-1',
  provider: 'openai',
  prompt_tokens: 3,
  cache_write_tokens: 2,
  completion_tokens: 4,
  bodies_erased: true,
})

/** Content of all files below the spool's directory. */
async function onDisk(): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const texts = await Promise.all(
    files.map(({ parentPath, name }) =>
      readFile(join(parentPath, name), 'latin1').catch((error: unknown) => {
        // Sent or erased between the two reads.
        if (!isMissing(error)) throw error
        return ''
      }),
    ),
  )
  return texts.join('\n')
}

function startSender(spool: Spool, post: PostRecords) {
  const kept = (folder: string) =>
    createKeptRecords({
      directory: join(directory, folder),
      key: undefined,
      maxBytes: 1024 * 1024,
      stripBodies: withoutBodies,
      now,
      log,
      onLost: () => undefined,
    })
  const sender = new Sender({
    spool,
    post,
    isSendable: () => true,
    rejected: kept('rejected'),
    parked: kept('parked'),
    metrics: createGatewayMetrics(createMetrics()),
    log,
    clock: { ...systemClock, sleep: () => new Promise((resolve) => setTimeout(resolve, 5)) },
  })
  const running = sender.run()
  return async () => {
    sender.stop(1_000)
    await running
    await spool.close()
  }
}

test('bodies leave the disk after an hour in which nothing can be sent; what they said of the call is sent without them', async () => {
  const spool = await openSpool()
  const posted: Buffer[] = []
  let isAway = true
  const stop = startSender(spool, (records) => {
    if (isAway) return Promise.resolve(records.map((): Verdict => ({ kind: 'later' })))
    posted.push(...records)
    return Promise.resolve(records.map((): Verdict => ({ kind: 'taken' })))
  })
  await Promise.all([spool.append(recordOf('a'), true), spool.append(Buffer.from('{"id":"kept"}'))])
  nowMs += 58 * minuteMs
  await spool.append(recordOf('b'), true)
  expect((await onDisk()).match(/SECRET/g)).toHaveLength(2)
  nowMs += minuteMs
  // The newer record keeps its bodies for now.
  await until(async () => (await onDisk()).match(/SECRET/g)?.length === 1)
  nowMs += 59 * minuteMs
  await until(async () => !(await onDisk()).includes('SECRET'))
  isAway = false
  await until(() => spool.depth().records === 0)
  const sent = posted.map((record) => JSON.parse(record.toString()) as { id: string })
  expect(sent.sort((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
    erased('a'),
    erased('b'),
    { id: 'kept' },
  ])
  expect(posted.join('')).not.toContain('SECRET')
  await stop()
})

test('once the clock is set back nobody knows how long bodies have waited: they leave the disk at once, the spool and beside it', async () => {
  const spool = await openSpool()
  const stop = startSender(spool, (records) =>
    Promise.resolve(
      records.map((record): Verdict => ({ kind: record.includes('"id":"a"') ? 'unsendable' : 'later' })),
    ),
  )
  await Promise.all([spool.append(recordOf('a'), true), spool.append(recordOf('b'), true)])
  await until(async () => (await readdir(join(directory, 'parked')).catch(() => [])).length === 1)
  nowMs -= 180 * minuteMs
  await until(async () => !(await onDisk()).includes('SECRET'))
  await stop()
})

async function takeAnHourLater() {
  nowMs += 60 * minuteMs
  const next = await openSpool()
  await until(() => next.isDue())
  const batch = await next.take(10, 1024)
  return { next, records: batch?.records.map((record) => JSON.parse(record.toString()) as unknown) }
}

test('records that a gateway left behind lose their bodies at the next one', async () => {
  const first = await openSpool()
  await first.append(recordOf('a'), true)
  await first.close()
  const { next, records } = await takeAnHourLater()
  expect(records).toMatchObject([erased('a')])
  expect(await onDisk()).not.toContain('SECRET')
  await next.close()
})

test("one with more parts than ingest takes, as gateways before wrote it, is lost and counted: without its bodies it would be nobody's", async () => {
  const first = await openSpool()
  const parts = Buffer.from(
    `{"id":"many","project_id":"prj_1","request_body":["SECRET"${',[]'.repeat(maxParts)}]}`,
  )
  await Promise.all([first.append(parts, true), first.append(recordOf('a'), true)])
  await first.close()
  const { next, records } = await takeAnHourLater()
  expect(records).toMatchObject([erased('a')])
  expect(lost.splice(0)).toEqual(['1 unreadable'])
  expect(await onDisk()).not.toContain('SECRET')
  await next.close()
})

test.each([
  ['because nothing comes after it', 6],
  ['because the clock is set back', -60],
])('a sent record stays on disk no longer %s', async (_name, minutes) => {
  const spool = await openSpool()
  const stop = startSender(spool, (records) => Promise.resolve(records.map(() => ({ kind: 'taken' }))))
  await spool.append(recordOf('a'), true)
  await until(() => spool.depth().records === 0)
  expect(await onDisk()).toContain('SECRET')
  nowMs += minutes * minuteMs
  await until(async () => !(await onDisk()).includes('SECRET'))
  await stop()
})

test('a refused record loses its bodies too, and is refused once, though its batch is given up for the ones that must wait', async () => {
  const spool = await openSpool()
  const posted: string[] = []
  let isAway = true
  const verdictOf = (text: string): Verdict => {
    if (text.includes('"id":"a"')) return { kind: 'refused', status: 422, detail: 'no' }
    return isAway ? { kind: 'later' } : { kind: 'taken' }
  }
  const stop = startSender(spool, (records) => {
    const texts = records.map(String)
    posted.push(...texts)
    return Promise.resolve(texts.map(verdictOf))
  })
  await Promise.all([spool.append(recordOf('a'), true), spool.append(recordOf('b'), true)])
  // Both are in the spool, and one also in rejected/.
  await until(async () => (await onDisk()).match(/SECRET/g)?.length === 3)
  nowMs += 60 * minuteMs
  // The spool erases only batches that were given up.
  await until(() => posted.at(-1)?.includes('"bodies_erased":true') === true)
  await until(async () => !(await onDisk()).includes('SECRET'))
  isAway = false
  await until(() => spool.depth().records === 0)
  expect(posted.filter((text) => text.includes('"id":"a"'))).toHaveLength(1)
  const names = await readdir(join(directory, 'rejected'))
  expect(names).toHaveLength(1)
  expect(await readFile(join(directory, 'rejected', names[0] ?? ''), 'latin1')).toContain('"prompt_tokens":3')
  await stop()
})

test.each<[string, { isEphemeral: boolean } | undefined, boolean]>([
  ['nobody has said', undefined, false],
  ['keeps none', { isEphemeral: true }, false],
  ['keeps content', { isEphemeral: false }, true],
])('written before anybody said whose the key is: after an hour %s', async (_name, own, isKept) => {
  const config = { GATEWAY_AUTH: 'proxy_keys', PROXY_API_KEY: ['k'] } as unknown as GatewayConfig
  const authorize = createCallers(config, new MockAgent(), { own: undefined, log, now })
  const caller = authorize('k')
  expect(caller).toEqual({ projectId: undefined, isEphemeral: true })
  const spool = await openSpool(createStripBodies(() => own))
  await spool.append(recordOf('a'), true)
  const named = Buffer.from(recordOf('b').toString().replace('"source"', '"project_id":"prj_1","source"'))
  await spool.append(named, true)
  await spool.close()
  nowMs += 60 * minuteMs
  const next = await openSpool(createStripBodies(() => own))
  await until(() => next.isDue())
  const [first, second] = (await next.take(10, 1024))?.records.map(String) ?? []
  expect(first?.includes('SECRET')).toBe(isKept)
  // A record of a known zero-retention project stays erased, whatever the API service says later.
  expect(second).not.toContain('SECRET')
  await next.close()
})

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startCalling, type CallingClients } from '#tests/support/calling-clients.ts'
import { startMockProvider, type MockProvider } from '#tests/support/mock-provider.ts'
import { readMetric } from '#tests/support/read-metric.ts'
import { startRecordReceiver, type RecordReceiver } from '#tests/support/record-receiver.ts'
import { startGatewayProcess, type GatewayProcess } from '#tests/support/start-gateway-process.ts'
import { until } from '#tests/support/until.ts'

/** A mounted disk smaller than the spool's limit, so that the kernel refuses writes. */
const directory = mkdtempSync(join(tmpdir(), 'sluice-full-disk-'))
const disk = join(directory, 'disk')
const isMounted = mountDisk()
const lostAtLeast = 50

let provider: MockProvider
let receiver: RecordReceiver
let gateway: GatewayProcess
const calling: CallingClients[] = []

function mountDisk(): boolean {
  try {
    execFileSync('mkdir', [disk])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { stdio: 'pipe' })
    return true
  } catch (error) {
    // Only root may mount, and not in every container.
    console.warn(`no disk can be filled here: ${String(error)}`)
    return false
  }
}

beforeAll(async () => {
  provider = await startMockProvider()
  receiver = await startRecordReceiver()
  gateway = await startGatewayProcess({
    directory,
    providerUrl: provider.url,
    receiverUrl: receiver.url,
    environment: {
      LOG_LEVEL: 'error',
      PROXY_API_KEY: 'k',
      SPOOL_DIR: join(disk, 'spool'),
      SPOOL_KEY: Buffer.alloc(32, 5).toString('base64'),
    },
  })
})

afterAll(async () => {
  for (const each of calling) await each.stop()
  await gateway.stop()
  await provider.stop()
  await receiver.stop()
  if (isMounted) execFileSync('umount', [disk])
  rmSync(directory, { recursive: true })
})

const here = isMounted ? test : test.skip
here('a full disk: no call fails, and what is missing is exactly what the metric says', async () => {
  const lost = () => readMetric(gateway.operationsPort, 'sluice_gateway_records_lost_total')
  const padding = () => randomBytes(4_096).toString('hex')
  const call = () => {
    const started = startCalling({ gatewayUrl: gateway.url, proxyApiKey: 'k', clients: 16, padding })
    calling.push(started)
    return started
  }
  const first = call()
  await until(() => receiver.taken.length > 0)
  receiver.refuseAll(503)
  await until(async () => (await lost()) >= lostAtLeast)
  await first.stop()
  const lostFirst = await lost()
  // The spool stays below what the disk offers: the oldest records are dropped and no write fails.
  expect(await gateway.output()).toContain('"reason":"spool_full"')

  // The next process starts on the full disk. Sending frees space, and calls are recorded again.
  await gateway.killAndRestart()
  receiver.refuseAll(undefined)
  const second = call()
  const before = receiver.taken.length
  await until(() => receiver.taken.length > before + 400)
  await second.stop()
  const lostSecond = await lost()

  const missing = () => {
    const taken = new Set(receiver.taken.map(({ id }) => id))
    return [first, second].map(({ complete }) => [...complete].filter((id) => !taken.has(id)).length)
  }
  const describe = () => `missing ${missing().join(' and ')}, lost ${lostFirst} and ${lostSecond}`
  await until(() => missing().join() === `${lostFirst},${lostSecond}`, 60_000, describe)
  // Nothing is in transit that could lower it.
  await gateway.stop()
  expect(missing()).toEqual([lostFirst, lostSecond])
  expect([first.failed(), second.failed()]).toEqual([0, 0])
})

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { startCalling, type CallingClients } from '#tests/support/calling-clients.ts'
import { startMockProvider, type MockProvider } from '#tests/support/mock-provider.ts'
import { readLedger } from '#tests/support/pipeline-ledger.ts'
import { startStack, type Stack } from '#tests/support/start-stack.ts'
import { until } from '#tests/support/until.ts'

/** The guarantee is for a minute (CHAOS_SECONDS=60); the suite uses less. */
const awayMs = Number(process.env['CHAOS_SECONDS'] ?? 20) * 1_000
const kills = 5
const callsPerLife = 60

jest.setTimeout(240_000 + 2 * awayMs)

let provider: MockProvider
let stack: Stack
const started: CallingClients[] = []

beforeAll(async () => {
  provider = await startMockProvider()
  stack = await startStack({ upstreamUrl: provider.url, insecureWebhookHosts: '127.0.0.1' })
})

afterAll(async () => {
  for (const calling of started) await calling.stop()
  signalApi('SIGCONT')
  await stack.stop()
  await provider.stop()
})

/** A stopped process accepts connections and never answers: the worst outage. */
function signalApi(signal: 'SIGSTOP' | 'SIGCONT'): void {
  process.kill(stack.processes.api.pid(), signal)
}

/** Every complete answer is in Postgres, stored once and counted once. */
async function expectStoredOnce({ complete }: CallingClients): Promise<void> {
  const missing = async () => {
    const stored = new Set((await readLedger(stack.databaseUrl)).stored)
    return [...complete].filter((id) => !stored.has(id))
  }
  await until(
    async () => (await missing()).length === 0,
    120_000,
    async () => `${(await missing()).length} of ${complete.size} calls are not stored`,
  )
  // The key forbids duplicate rows, so a call taken twice shows in the counters, once calls without a
  // complete answer are stored too.
  let ledger = await readLedger(stack.databaseUrl)
  await until(
    async () => (ledger = await readLedger(stack.databaseUrl)).counted === ledger.stored.length,
    180_000,
    () => `${ledger.counted} counted, ${ledger.stored.length} stored`,
  )
  const { stored } = ledger
  expect(stored).toHaveLength(new Set(stored).size)
}

test('kill -9 under load, with and without the API: every complete answer is stored, once', async () => {
  const calling = startCalling({ ...stack, clients: 16 })
  started.push(calling)
  const { gateway } = stack.processes
  const killedBefore = gateway.restarts()
  for (let kill = 1; kill <= kills; kill++) {
    // Down for every other kill: records of those processes exist only in the spool.
    signalApi(kill % 2 === 0 ? 'SIGCONT' : 'SIGSTOP')
    const before = calling.complete.size
    await until(() => calling.complete.size > before + callsPerLife)
    await gateway.killAndRestart()
  }
  signalApi('SIGCONT')
  await calling.stop()
  expect(calling.complete.size).toBeGreaterThan(kills * callsPerLife)
  expect(gateway.restarts() - killedBefore).toBe(kills)
  await expectStoredOnce(calling)
})

test('the API is down under load: no call fails, and each is stored once', async () => {
  const calling = startCalling({ ...stack, clients: 16, pauseMs: 400 })
  started.push(calling)
  await until(() => calling.complete.size > callsPerLife)
  signalApi('SIGSTOP')
  const before = calling.complete.size
  await sleep(awayMs)
  await until(() => calling.complete.size > before + callsPerLife)
  signalApi('SIGCONT')
  const after = calling.complete.size
  await until(() => calling.complete.size > after + callsPerLife)
  await calling.stop()
  expect(calling.failed()).toBe(0)
  await expectStoredOnce(calling)
})

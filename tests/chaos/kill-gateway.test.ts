import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import { startMockProvider, type MockProvider } from '#tests/support/mock-provider.ts'
import { startRecordReceiver, type RecordReceiver } from '#tests/support/record-receiver.ts'
import { startServiceProcess, type ServiceProcess } from '#tests/support/service-process.ts'
import { until } from '#tests/support/until.ts'

const kills = 5
const clients = 24

let provider: MockProvider
let receiver: RecordReceiver
let gateway: ServiceProcess
let directory: string
let url: string

beforeAll(async () => {
  const [port, operationsPort] = (await freePorts(2)) as [number, number]
  directory = await mkdtemp(join(tmpdir(), 'sluice-kill-gateway-'))
  provider = await startMockProvider()
  receiver = await startRecordReceiver()
  url = `http://127.0.0.1:${port}/v1/chat/completions`
  gateway = await startServiceProcess({
    name: 'gateway',
    operationsPort,
    logFile: join(directory, 'gateway.log'),
    environment: {
      LOG_LEVEL: 'warn',
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      UPSTREAM_URL: provider.url,
      PROXY_API_KEY: 'k',
      API_BACKEND_URL: receiver.url,
      SERVICE_API_KEY: 'svc_test',
      SPOOL_DIR: join(directory, 'spool'),
      SPOOL_KEY: Buffer.alloc(32, 5).toString('base64'),
    },
  })
})

afterAll(async () => {
  await gateway.stop()
  await provider.stop()
  await receiver.stop()
  await rm(directory, { recursive: true })
})

/** Makes calls until told to stop; notes the identifier of each whose answer came in whole. */
async function callAgainAndAgain(
  number: number,
  complete: Set<string>,
  stopped: () => boolean,
): Promise<void> {
  for (let call = 0; !stopped(); call++) {
    const body = JSON.stringify({
      model: 'm',
      stream: call % 2 === 0,
      messages: [{ role: 'user', content: `client ${number} call ${call}` }],
    })
    try {
      const response = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer k' }, body })
      await response.text()
      if (response.status === 200) complete.add(response.headers.get('x-service-request-id') ?? '')
    } catch (error) {
      // The gateway was killed under this call. fetch gives a TypeError, of another realm than jest's.
      if ((error as Error).name !== 'TypeError') throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

test('kill -9 under load, with the API service away: every answer that came in whole is recorded', async () => {
  const complete = new Set<string>()
  let isOver = false
  const load = Array.from({ length: clients }, (_, number) =>
    callAgainAndAgain(number, complete, () => isOver),
  )
  for (let kill = 1; kill <= kills; kill++) {
    // Away for every other kill: the records of those lives are in the spool only.
    receiver.refuseAll(kill % 2 === 0 ? undefined : 503)
    const before = complete.size
    await until(() => complete.size > before + 200)
    await gateway.killAndRestart()
  }
  receiver.refuseAll(undefined)
  isOver = true
  await Promise.all(load)
  const missing = () => {
    const taken = new Set(receiver.taken.map(({ id }) => id))
    return [...complete].filter((id) => !taken.has(id))
  }
  await until(
    () => missing().length === 0,
    60_000,
    () => `${missing().length} of ${complete.size} calls are not recorded`,
  )
  expect(complete.size).toBeGreaterThan(kills * 200)
  expect(gateway.restarts()).toBe(kills)
}, 180_000)

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import { examineServices } from './examine-services.ts'
import type { System } from './find-system.ts'

const nowMs = 1_800_000_000_000
const at = (secondsAgo: number) => new Date(nowMs - secondsAgo * 1_000).toISOString()

test('reports a process that restarts repeatedly, not one that has been up for long', async () => {
  const processes = [
    { name: 'sink', endedAt: [at(7_000), at(900), at(70), at(40), at(10)] },
    { name: 'scorer', endedAt: [at(120)] },
    { name: 'notifier', endedAt: [at(700)] },
    { name: 'api', endedAt: [] },
    { name: 'of a version before' },
  ]
  const system = { operations: {}, processes, now: () => nowMs } as unknown as System
  const found = (await examineServices(system)).filter(({ check }) => check === 'restarts')
  expect(found.map(({ state, what }) => [state, what])).toEqual([
    ['problem', 'sink has ended 4 times within half an hour, the last time 10 s ago'],
    ['warning', 'scorer has ended once within half an hour, the last time 120 s ago'],
  ])
})

test('for a service that is down, gives its address, the reason and a remedy', async () => {
  const stranger = createServer((_request, response) => void response.end('<html>hello'))
  const broken = createServer((_request, response) => {
    response.write('{"status":', () => response.destroy())
  })
  // Too long for a host name, so no resolver is asked: it may be slow, or resolve every name.
  const nowhere = `http://${'a'.repeat(64)}:9002`
  const [at, half] = await Promise.all([listen(stranger), listen(broken)])
  const [port] = await freePorts(1)
  const operations = {
    sink: `http://127.0.0.1:${port}`,
    scorer: nowhere,
    api: at,
    notifier: half,
  }
  const system = { operations, processes: [], now: () => nowMs } as unknown as System
  const found = (await examineServices(system)).map(({ state, what, remedy = '' }) => [state, what, remedy])
  stranger.close()
  broken.close()
  expect(found).toEqual([
    [
      'problem',
      `sink does not answer at http://127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
      expect.stringMatching(/^nobody listens there: start it/),
    ],
    [
      'problem',
      expect.stringMatching(`^scorer does not answer at ${nowhere}: getaddrinfo ENOTFOUND`),
      expect.stringMatching(/^the name has to resolve from here/),
    ],
    [
      'problem',
      `what answers at ${at} with 200 is no api of Sluice`,
      expect.stringMatching(/^the address given/),
    ],
    [
      'problem',
      expect.stringMatching(`^notifier answers at ${half} and breaks off: `),
      expect.stringMatching(/^the address given/),
    ],
  ])
})

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

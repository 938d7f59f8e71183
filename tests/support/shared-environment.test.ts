import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { expect, jest, test } from '@jest/globals'

interface Environment {
  fakeTimersModern: Pick<typeof jest, 'useFakeTimers'>
  moduleMocker: Pick<typeof jest, 'spyOn'>
  teardown(): Promise<void>
}

const SharedEnvironment = createRequire(import.meta.url)('./shared-environment.cjs') as new (options: {
  projectConfig: object
}) => Environment

test('a file leaves nothing for the next ones in the same process', async () => {
  const environment = new SharedEnvironment({ projectConfig: { fakeTimers: {} } })
  const [clock, shell, output] = [Date, process.env['SHELL'], globalThis.console]
  environment.fakeTimersModern.useFakeTimers()
  environment.moduleMocker.spyOn(Math, 'random').mockReturnValue(0.5)
  globalThis.console = { ...output }
  process.env['SHELL'] = 'changed'
  process.env['SLUICE_LEFT_BEHIND'] = '1'
  await environment.teardown()
  expect(Date).toBe(clock)
  expect(new Set([Math.random(), Math.random()]).size).toBe(2)
  expect(globalThis.console).toBe(output)
  expect([process.env['SHELL'], process.env['SLUICE_LEFT_BEHIND']]).toEqual([shell, undefined])
})

test('a change that cannot be restored fails the file', async () => {
  const environment = new SharedEnvironment({ projectConfig: { fakeTimers: {} } })
  const { fetch } = globalThis
  const listener = () => undefined
  globalThis.fetch = () => Promise.reject(new Error('none'))
  process.on('SIGUSR2', listener)
  try {
    await expect(environment.teardown()).rejects.toThrow('fetch, SIGUSR2 listeners')
  } finally {
    globalThis.fetch = fetch
    process.off('SIGUSR2', listener)
  }
})

test('clients of tests do not reuse connections, which could close while a process stalls', async () => {
  let connections = 0
  const server = createServer((_request, response) => response.end()).on('connection', () => connections++)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  for (let call = 0; call < 2; call++) {
    await (await fetch(`http://127.0.0.1:${port}/`)).text()
    const [response] = (await once(request({ port }).end(), 'response')) as [NodeJS.ReadableStream]
    await once(response.resume(), 'end')
  }
  server.closeAllConnections()
  server.close()
  expect(connections).toBe(4)
})

test.each(['mock', 'unstable_mockModule', 'resetModules'] as const)('jest.%s is refused', (name) => {
  expect(() => Reflect.get(jest, name) as unknown).toThrow(`jest.${name}: test files share their modules`)
})

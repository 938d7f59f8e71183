import { afterEach, expect, jest, test } from '@jest/globals'
import { z } from 'zod'
import { operationsPort, processFields } from './config.ts'
import { runProcess } from './run-process.ts'
import type { Health, Service } from './service.ts'

const schema = z.object({ ...processFields, OPS_PORT: operationsPort(0) })
const environment = { LOG_LEVEL: 'silent', OPS_PORT: '0', DRAIN_DEADLINE_MS: '200' }

afterEach(() => {
  jest.restoreAllMocks()
})

function service(overrides: Partial<Service> = {}): Service {
  const done = Promise.withResolvers<undefined>()
  return {
    start: () => Promise.resolve(),
    stop: () => {
      done.resolve(undefined)
      return Promise.resolve()
    },
    health: (): Health => ({ status: 'ok' }),
    done: done.promise.then(() => undefined),
    ...overrides,
  }
}

const run = (made: Service) => runProcess({ name: 'test', schema, environment, create: () => made })
const signalSoon = () => setTimeout(() => process.emit('SIGTERM'), 20)

test('a signal stops the service and the process ends well', async () => {
  const stopped = jest.fn()
  signalSoon()
  expect(await run(service({ stop: () => Promise.resolve(stopped()) as Promise<void> }))).toBe(0)
  expect(stopped).toHaveBeenCalledTimes(1)
})

test('a service that fails is stopped, and the process ends with 1', async () => {
  const stopped = jest.fn()
  const failing = service({
    done: Promise.reject(new Error('broken')),
    stop: () => Promise.resolve(stopped()) as Promise<void>,
  })
  expect(await run(failing)).toBe(1)
  expect(stopped).toHaveBeenCalledTimes(1)
})

test('a service that fails once it has started ends the process with 1', async () => {
  const done = Promise.withResolvers<undefined>()
  const running = run(service({ done: done.promise }))
  setTimeout(() => done.reject(new Error('broken')), 20)
  expect(await running).toBe(1)
})

test('a second signal ends the wait', async () => {
  let signals = 0
  // Each time one more: the first stops it, and it never drains.
  const signalling = setInterval(() => void (signals++, process.emit('SIGTERM')), 20)
  const stop = () => new Promise<void>(() => undefined)
  const unhurried = { ...environment, DRAIN_DEADLINE_MS: '600000' }
  const made = service({ stop })
  const code = await runProcess({ name: 'test', schema, environment: unhurried, create: () => made })
  clearInterval(signalling)
  expect({ code, isSecond: signals >= 2 }).toEqual({ code: 1, isSecond: true })
})

test('a service that cannot start ends the process with 1', async () => {
  expect(await run(service({ start: () => Promise.reject(new Error('no port')) }))).toBe(1)
})

test('a service that must not start yet ends the process with 1; a signal does not wait for what is looked at', async () => {
  const start = jest.fn(() => Promise.resolve())
  const prepared = (prepare: () => Promise<void>) =>
    runProcess({ name: 'test', schema, environment, create: () => service({ start }), prepare })
  expect(await prepared(() => Promise.reject(new Error('an older database')))).toBe(1)
  expect(start).not.toHaveBeenCalled()
  signalSoon()
  expect(await prepared(() => new Promise(() => undefined))).toBe(0)
})

test('a service that does not drain in time ends the process with 1', async () => {
  signalSoon()
  expect(await run(service({ stop: () => new Promise(() => undefined) }))).toBe(1)
})

test('wrong configuration ends the process with 2, naming the variable', async () => {
  const written = jest.spyOn(process.stderr, 'write').mockReturnValue(true)
  const code = await runProcess({
    name: 'test',
    schema,
    environment: { OPS_PORT: 'x' },
    create: () => service(),
  })
  expect(code).toBe(2)
  expect(written.mock.calls.join()).toMatch(/OPS_PORT/)
})

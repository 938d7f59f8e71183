import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { operationsPort, processFields } from '../config.ts'
import { runProcess } from '../run-process.ts'
import type { Service } from '../service.ts'
import { tracingFields } from './tracing-fields.ts'

const schema = z.object({ ...processFields, ...tracingFields, OPS_PORT: operationsPort(0) })

/** Runs a process whose service ends a span as it stops. Returns its exit code and the exports. */
async function runTraced(answers: boolean): Promise<{ code: number; exports: Buffer[] }> {
  const exports: Buffer[] = []
  const held: ServerResponse[] = []
  const receiver = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => exports.push(chunk))
    if (answers) request.on('end', () => response.end())
    else held.push(response)
  })
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  const stopped = Promise.withResolvers<undefined>()
  const running = runProcess({
    name: 'traced',
    schema,
    environment: {
      ...{ LOG_LEVEL: 'silent', OPS_PORT: '0', DRAIN_DEADLINE_MS: '1500' },
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    },
    create: (_config, { tracing }): Service => ({
      start: () => Promise.resolve(void setTimeout(() => process.emit('SIGTERM'), 20)),
      stop: () => {
        tracing?.start('the last span', 'server', []).end()
        stopped.resolve(undefined)
        return Promise.resolve()
      },
      health: () => ({ status: 'ok' }),
      done: stopped.promise,
    }),
  })
  const code = await running
  // Refused for good: the exporter would retry what breaks off.
  for (const response of held) response.writeHead(400).end()
  await new Promise((resolve) => {
    receiver.close(resolve)
    receiver.closeAllConnections()
  })
  return { code, exports }
}

test('a stopping process exports its last spans', async () => {
  const { code, exports } = await runTraced(true)
  expect(code).toBe(0)
  expect(Buffer.concat(exports).toString('latin1')).toMatch(/sluice-traced[^]*the last span/)
})

test('a receiver that hangs keeps no process from ending well', async () => {
  const { code, exports } = await runTraced(false)
  expect(code).toBe(0)
  expect(exports.length).toBeGreaterThan(0)
})

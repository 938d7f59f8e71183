import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { createMetrics } from '#runtime/metrics.ts'
import { until } from '#tests/support/until.ts'
import { createGatewayMetrics } from '../metrics.ts'

test('what is free where the spool lies is measured, and a folder that is not there yet is no alarm', async () => {
  const freeOf = async (directory: string, isWanted: (bytes: number) => boolean) => {
    const metrics = createMetrics()
    createGatewayMetrics(metrics).spoolLies(directory, 1_000)
    const read = async () => {
      const [, text] = /^sluice_gateway_spool_free_bytes (\S+)/m.exec(await metrics.registry.metrics()) ?? []
      return Number(text)
    }
    await until(async () => isWanted(await read()))
    return await read()
  }
  expect(await freeOf(tmpdir(), (bytes) => bytes !== 1_000)).toBeGreaterThan(1_000)
  expect(await freeOf(join(tmpdir(), 'not', 'there'), () => true)).toBe(1_000)
})

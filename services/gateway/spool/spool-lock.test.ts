import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { until } from '#tests/support/until.ts'
import { Spool } from './spool.ts'

test('a process that lives says so again and again: gateways of other hosts can see only that', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-lock-'))
  let nowMs = 1_700_000_000_000
  const spool = new Spool({
    directory,
    name: 'alive',
    key: undefined,
    maxBytes: 1_000_000,
    maxAsideBytes: 1_000_000,
    maxWaitingBytes: 1_000_000,
    stripBodies: (record) => record,
    now: () => nowMs,
    tickMs: 1,
    log: createLog('spool-test', 'silent'),
    onLost: () => undefined,
  })
  await spool.open()
  const touchedMs = async () => (await stat(join(directory, 'worker-alive', 'lock'))).mtimeMs
  for (const laterMs of [nowMs + 60_000, nowMs + 120_000]) {
    nowMs = laterMs
    await until(async () => (await touchedMs()) === laterMs)
  }
  expect(spool.problem()).toBeNull()
  await spool.close()
  await rm(directory, { recursive: true })
})

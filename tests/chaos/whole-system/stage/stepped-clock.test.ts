import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from '@jest/globals'
import { createServiceClocks } from './clock-files.ts'

const directory = mkdtempSync(join(tmpdir(), 'sluice-clock-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** How far the process is from the real time by each way to ask for it, until it is one hour ahead, and what is not asked from the clock. */
const program = `
  const real = () => performance.timeOrigin + performance.now()
  const away = () => [Date.now(), new Date().getTime(), Date.parse(Date())].map((ms) => Math.round((ms - real()) / 60_000))
  console.log(JSON.stringify(away()))
  const look = setInterval(() => {
    if (Date.now() - real() < 3_500_000) return
    clearInterval(look)
    const kept = [new Date(0).getTime(), new Date(2020, 1).getFullYear(), new Date() instanceof Date, Date.UTC(1970)]
    console.log(JSON.stringify({ away: away(), kept }))
  }, 20)`

test('a process goes by the clock that it is given, and by its own until then', async () => {
  const clocks = createServiceClocks(directory)
  const { stdout } = spawn(process.execPath, ['-e', program], {
    env: { NODE_OPTIONS: clocks.optionOf('a-service') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface(stdout)[Symbol.asyncIterator]()
  const next = async () => JSON.parse(String((await lines.next()).value)) as unknown
  expect(await next()).toEqual([0, 0, 0])
  await clocks.step('a-service', 3_600_000)
  expect(await next()).toEqual({ away: [60, 60, 60], kept: [0, 2020, true, 0] })
})

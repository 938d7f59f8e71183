import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { mkdtempSync, rmSync, unwatchFile, utimesSync, watchFile, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createScorerMetrics } from '../scorer-metrics.ts'
import { createCustomScorerStore } from './custom-scorer-store.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-scorers-'))
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
})
afterEach(() => rmSync(directory, { recursive: true }))

const entry = (name: string) => `- { name: ${name}, type: keyword_list, severity: medium, keywords: [x] }\n`

test('an entry that is not enabled is checked and not run', async () => {
  const file = join(directory, 'scorers.yaml')
  writeFileSync(file, `${entry('on')}${entry('off').replace(' }', ', enabled: false }')}`)
  const options = { metrics: createScorerMetrics(createMetrics()), log: createLog('test', 'silent') }
  const store = createCustomScorerStore({ file, ...options })
  await store.start()
  await store.stop()
  expect(store.current().map(({ name }) => name)).toEqual(['on'])
  writeFileSync(file, entry('off').replace('keyword_list', 'magic').replace(' }', ', enabled: false }'))
  await expect(createCustomScorerStore({ file, ...options }).start()).rejects.toThrow('type')
})

test('a file that is being written in place is read once it is whole', async () => {
  const file = join(directory, 'scorers.yaml')
  writeFileSync(file, entry('before'))
  const metrics = createScorerMetrics(createMetrics())
  const log = createLog('test', 'silent')
  const store = createCustomScorerStore({ file, metrics, log, intervalMs: 20 })
  const inForce = () => store.current().map(({ name }) => name)
  await store.start()
  try {
    const seen: unknown[] = []
    watchFile(file, { interval: 20 }, (now) => seen.push(now))
    writeFileSync(file, '')
    // The first poll, the baseline for later ones, comes a moment after the start.
    for (let second = 1; seen.length === 0; second++) {
      utimesSync(file, second, second)
      await new Promise(setImmediate)
    }
    expect(inForce()).toEqual(['before'])
    writeFileSync(file, entry('one') + entry('other'))
    jest.advanceTimersByTime(20)
    expect(inForce()).toEqual(['one', 'other'])
  } finally {
    await store.stop()
    unwatchFile(file)
  }
})

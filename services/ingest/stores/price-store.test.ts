import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { until } from '#tests/support/until.ts'
import { createPriceStore } from './price-store.ts'

let directory: string
let ownFile: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'sluice-prices-'))
  ownFile = path.join(directory, 'prices.yaml')
})
afterEach(() => rmSync(directory, { recursive: true }))

const write = (input: number | string) =>
  writeFileSync(ownFile, `prices:\n  - models: [gpt-4o]\n    input: ${input}\n    output: 1\n`)
const open = () =>
  createPriceStore({
    listFile: 'infra/prices.json',
    ownFile,
    log: createLog('test', 'silent'),
    metrics: createMetrics(),
    intervalMs: 10,
  })
const million = { prompt_tokens: 1e6, completion_tokens: 0, cached_tokens: null, reasoning_tokens: null }

test("the operator's list goes before ours, is read again when it changes, and a bad one leaves the last good one in force", async () => {
  write(7)
  const store = open()
  const cost = (model: string) => store.costOf({ model, provider: 'openai' }, million)
  expect([cost('gpt-4o'), cost('gpt-4.1')]).toEqual([7, 2])
  store.start()
  try {
    write(8)
    await until(() => cost('gpt-4o') === 8)
    write('much')
    await until(() => store.problem() !== undefined)
    expect(store.problem()).toContain(`${ownFile}:3: input:`)
    expect(cost('gpt-4o')).toBe(8)
    write(9)
    await until(() => cost('gpt-4o') === 9)
    expect(store.problem()).toBeUndefined()
  } finally {
    store.stop()
  }
})

test('a list that is bad to begin with keeps the process from starting', () => {
  write('much')
  expect(open).toThrow(`${ownFile}:3: input:`)
})

test('each of our prices says when it was compared with its page, or written', () => {
  const { prices } = JSON.parse(readFileSync('infra/prices.json', 'utf8')) as {
    prices: { models: string[]; as_of?: string; written?: string }[]
  }
  expect(prices.length).toBeGreaterThan(200)
  const undated = prices.filter(({ as_of, written }) => (as_of === undefined) === (written === undefined))
  expect(undated).toEqual([])
})

import { expect, test } from '@jest/globals'
import { ownProbesFolder, readProbes } from '../probes/read-probes.ts'
import { planAttempts, type PlanOrder } from './plan-attempts.ts'

const { probes } = readProbes([ownProbesFolder])
const order: PlanOrder = {
  runId: 'run_01h455vb4pex5vsknk084sn02q',
  seed: '1',
  select: [],
  transformations: ['plain', 'base64'],
  repeats: 2,
  limit: undefined,
}
const plan = (changes: Partial<PlanOrder> = {}) => planAttempts({ ...order, ...changes }, probes.values())

test('every probe in every transformation as often as asked, each with an identity of its own', () => {
  const attempts = plan()
  expect(attempts).toHaveLength(probes.size * 4)
  expect(new Set(attempts.map(({ requestId }) => requestId)).size).toBe(attempts.length)
  expect(attempts.map(({ number }) => number)).toEqual(attempts.map((_attempt, index) => index))
})

test('the seed decides the order and nothing else, and the run the identities', () => {
  expect(plan()).toEqual(plan())
  const ids = (attempts: ReturnType<typeof plan>) => attempts.map(({ requestId }) => requestId)
  expect(ids(plan({ seed: '2' }))).not.toEqual(ids(plan()))
  expect(new Set(ids(plan({ seed: '2' })))).toEqual(new Set(ids(plan())))
  const another = plan({ runId: 'run_01h455vb4pex5vsknk084sn02r' })
  expect(another.map(({ probeId }) => probeId)).toEqual(plan().map(({ probeId }) => probeId))
  expect(new Set([...ids(another), ...ids(plan())]).size).toBe(2 * another.length)
})

test('a limited run has something of every category', () => {
  const categories = plan({ limit: 20 }).map(({ category }) => category)
  expect(categories).toHaveLength(20)
  expect(new Set(categories).size).toBe(10)
})

test.each([
  ['a category', 'LLM03', 'supply_chain'],
  ['a scorer', 'supply_chain', 'supply_chain'],
  ['the beginning of ids', 'supply', 'supply_chain'],
])('%s chooses its probes', (_name, word, scorer) => {
  const chosen = plan({ select: [word] })
  expect(chosen.length).toBeGreaterThan(0)
  expect(new Set(chosen.map((attempt) => attempt.scorer))).toEqual(new Set([scorer]))
})

test('an id chooses one; what nothing has chooses none', () => {
  expect(plan({ select: ['leak.poem'], repeats: 1 })).toHaveLength(2)
  expect(plan({ select: ['leak.poe'] })).toHaveLength(0)
})

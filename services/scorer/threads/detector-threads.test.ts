import { afterAll, expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { createMetrics } from '#runtime/metrics.ts'
import type { Waiter } from '../judge/wait-queue.ts'
import { createScorerMetrics } from '../scorer-metrics.ts'
import { parseBody, readCall } from '#detectors/call-text.ts'
import { createDetectorThreads } from './detector-threads.ts'

const never = new AbortController().signal
const threads = createDetectorThreads({
  threads: 1,
  timeoutMs: 60_000,
  clock: systemClock,
  metrics: createScorerMetrics(createMetrics()),
})
afterAll(() => threads.stop())

const call = readCall(parseBody('{}'), null)

test('a call waits for one of each other project, and of its replays, however many of them wait before it', async () => {
  const read: string[] = []
  const readCallOf = async (name: string, who: Waiter) => {
    await threads.run({ builtIn: [], custom: [] }, call, () => undefined, who, never)
    read.push(name)
  }
  const many = (name: string, who: Waiter) => [1, 2, 3].map((number) => readCallOf(`${name} ${number}`, who))
  await Promise.all([
    ...many('a replay', { lane: 'replay', projectId: 'a' }),
    ...many('a live', { lane: 'live', projectId: 'a' }),
    readCallOf('b live', { lane: 'live', projectId: 'b' }),
  ])
  expect(read).toEqual([
    ...['a replay 1', 'a live 1', 'b live', 'a replay 2'],
    ...['a live 2', 'a replay 3', 'a live 3'],
  ])
})

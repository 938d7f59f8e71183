import { afterAll, expect, test } from '@jest/globals'
import { systemClock } from './clock.ts'
import { createTaskThreads } from './task-threads.ts'

/** Answers with what it was asked, or does what it is asked to. */
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ task, value }) => {
      if (task === 'spin') for (;;);
      if (task === 'hang') return
      if (task === 'throw') throw new Error('thrown')
      if (task === 'exit') process.exit(3)
      parentPort.postMessage(value)
    })
  `)}`,
)
const errors: unknown[] = []
const threads = createTaskThreads<{ task: string; value?: number }>({
  ...{ program, threads: 1, maxHeapMb: 64, clock: systemClock },
  limits: { processorMs: 200, wallMs: 1_000 },
  onError: (error) => errors.push(error),
})
afterAll(() => threads.stop())

test.each([
  ['spin', { fault: 'too_slow' }],
  ['hang', { fault: 'too_slow' }],
  ['throw', { fault: 'failed' }],
  ['exit', { fault: 'failed' }],
])('after a task that does %s the next ones are answered, each with its own', async (task, expected) => {
  const values = [1, 2, 3]
  const [first, ...others] = await Promise.all([
    threads.run({ task }),
    ...values.map((value) => threads.run({ task: 'answer', value })),
  ])
  expect(first).toEqual(expected)
  expect(others).toEqual(values.map((value) => ({ value })))
  expect(errors.splice(0)).toHaveLength(expected.fault === 'failed' ? 1 : 0)
})

import { existsSync } from 'node:fs'
import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect, test } from '@jest/globals'

test('a thread goes behind others, and its process stays where it is', async () => {
  const own = getPriority()
  const module = JSON.stringify(new URL('lower-priority.ts', import.meta.url).href)
  const code = `import(${module}).then(({ lowerOwnPriority }) =>
    require('node:worker_threads').parentPort.postMessage(lowerOwnPriority()))`
  const thread = new Worker(code, { eval: true })
  const priority = await new Promise((resolve, reject) =>
    thread.once('message', resolve).once('error', reject),
  )
  await thread.terminate()
  expect(priority).toBe(existsSync('/proc/thread-self') ? Math.max(5, own) : undefined)
  expect(getPriority()).toBe(own)
})

import { EventEmitter, once } from 'node:events'
import { expect, test } from '@jest/globals'
import { createWriteQueue } from './write-queue.ts'

const record = Buffer.alloc(600)

test('a disk that never answers holds a bounded number of bytes; what comes beyond is refused and told', async () => {
  let refused = 0
  const disk = new EventEmitter()
  const writing = once(disk, 'written').then(() => undefined)
  const queue = createWriteQueue(() => writing, {
    maxBytes: 1_000,
    onRefused: () => refused++,
  })
  const first = queue.add(record, false)
  await expect(queue.add(record, false)).rejects.toThrow('600 bytes are waiting')
  // During the write, too.
  await new Promise((resolve) => setImmediate(resolve))
  await expect(queue.add(record, true)).rejects.toThrow('600 bytes are waiting')
  expect(refused).toBe(2)
  disk.emit('written')
  await first
  await queue.add(record, false)
  expect(refused).toBe(2)
})

test('a record longer than all that may wait is taken when nothing waits; a failed write gives its room back', async () => {
  let fails = true
  const write = () => (fails ? Promise.reject(new Error('no')) : Promise.resolve())
  const queue = createWriteQueue(write, { maxBytes: 10, onRefused: () => undefined })
  await expect(queue.add(record, false)).rejects.toThrow('no')
  fails = false
  await queue.add(record, false)
})

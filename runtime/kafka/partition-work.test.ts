import { expect, test } from '@jest/globals'
import type { KafkaMessage } from 'kafkajs'
import type { Assigned } from './assignment.ts'
import type { CrashMark, Suspects } from './crash-marks.ts'
import { grantLastTry, PartitionWork } from './partition-work.ts'
import { weightBytes, type RawRecord } from './raw-record.ts'

const raw = (offset: bigint): RawRecord => ({
  topic: 't',
  partition: 0,
  offset,
  message: { key: null, value: Buffer.from('v'), timestamp: '7', offset: String(offset) } as KafkaMessage,
})
const raws = (from: bigint, until: bigint) =>
  Array.from({ length: Number(until - from) }, (_, index) => raw(from + BigInt(index)))
const assignedAt = (start: bigint, found: CrashMark | null = null): Assigned => {
  const suspects: Suspects | null = found === null ? null : { from: start, mark: found }
  const place = { topic: 't', partition: 0, start, suspects, found }
  return { ...place, writer: 'me', next: start, readAgainAt: null }
}
/** With a window of four. */
const workAt = (start: bigint, found?: CrashMark) =>
  new PartitionWork<string>(assignedAt(start, found), 4, new AbortController().signal)

/** What the next commit says, which is then acknowledged. */
function commit(work: PartitionWork<string>) {
  const position = work.progress()
  if (position === null) return null
  work.committed(position)
  return { offset: position.offset, mark: position.mark }
}
/** Begins all that may, and returns their offsets. */
function beginAll(work: PartitionWork<string>): bigint[] {
  const begun: bigint[] = []
  while (work.mayBegin()) begun.push(work.begin()?.raw.offset ?? -1n)
  return begun
}

test('nothing is begun that no acknowledged mark of its own covers, nor beyond the window', () => {
  const work = workAt(0n)
  work.take(raws(0n, 10n))
  expect(beginAll(work)).toEqual([])
  expect(work.needsMark).toBe(true)
  expect(commit(work)).toEqual({ offset: 0n, mark: { writers: ['me'], until: 4n } })
  expect(beginAll(work)).toEqual([0n, 1n, 2n, 3n])
  work.finish(raw(0n))
  // Most of the window is under way: it is not worth a commit yet.
  expect(work.needsMark).toBe(false)
  work.finish(raw(1n))
  expect(beginAll(work)).toEqual([])
  expect(work.needsMark).toBe(true)
  expect(commit(work)).toEqual({ offset: 2n, mark: { writers: ['me'], until: 6n } })
  expect(commit(work)).toBeNull()
  expect(beginAll(work)).toEqual([4n, 5n])
})

test('a mark reaches no further than what was read, and goes when nothing is left', () => {
  const work = workAt(3n)
  expect(work.touched).toBe(false)
  work.take(raws(3n, 5n))
  expect(work.touched).toBe(true)
  expect(commit(work)).toEqual({ offset: 3n, mark: { writers: ['me'], until: 5n } })
  for (const offset of beginAll(work)) work.finish(raw(offset))
  expect(commit(work)).toEqual({ offset: 5n, mark: null })
  expect(work.bytes).toBe(0)
  expect(work.lag()).toBe(0)
})

test('a record ahead of the mark waits, though it is within the window', () => {
  const work = workAt(0n)
  work.take(raws(0n, 2n))
  commit(work)
  work.take(raws(2n, 4n))
  expect(beginAll(work)).toEqual([0n, 1n])
})

test('rest leaves no mark behind, except of a mistake that a record brings out', () => {
  const work = workAt(0n)
  work.take(raws(0n, 3n))
  commit(work)
  const [first] = beginAll(work)
  work.leave(raw(first ?? -1n))
  expect(work.rest()).toMatchObject({ offset: 0n, mark: null })
  work.keepMark = true
  expect(work.rest()).toMatchObject({ offset: 0n, mark: { writers: ['me'], until: 3n } })
})

test('suspects are tried one by one, each under a mark that counts the try', () => {
  const work = workAt(2n, { writers: ['a'], until: 4n })
  work.take(raws(2n, 6n))
  expect(beginAll(work)).toEqual([])
  expect(commit(work)).toEqual({ offset: 2n, mark: { writers: ['a', 'me'], until: 4n } })
  expect(beginAll(work)).toEqual([2n])
  expect(work.rest().mark).toEqual({ writers: ['a'], until: 4n })
  work.finish(raw(2n))
  // The mark that is committed is the neighbour's.
  expect(beginAll(work)).toEqual([])
  expect(commit(work)).toEqual({ offset: 3n, mark: { writers: ['a', 'me'], until: 4n } })
  expect(beginAll(work)).toEqual([3n])
  work.finish(raw(3n))
  expect(commit(work)).toEqual({ offset: 4n, mark: { writers: ['me'], until: 6n } })
  expect(beginAll(work)).toEqual([4n, 5n])
})

test('a suspect waits until the records beside it have ended', () => {
  const work = workAt(2n, { writers: ['a'], until: 4n })
  work.take(raws(2n, 4n))
  commit(work)
  work.begin()
  work.committed({ assigned: work.assigned, offset: 3n, mark: { writers: ['a', 'me'], until: 4n } })
  expect(work.mayBegin()).toBe(false)
})

test('a mark of its own that it comes back to covers no more than the window', () => {
  const found = { writers: ['me'], until: 90n }
  const work = new PartitionWork<string>(
    { ...assignedAt(2n, found), suspects: null },
    4,
    new AbortController().signal,
  )
  work.take(raws(2n, 9n))
  expect(beginAll(work)).toEqual([2n, 3n, 4n, 5n])
})

test('a mark of its own that counts, at a record that throws it out of the group, does not cover another try', () => {
  const work = workAt(2n, { writers: ['me'], until: 3n })
  work.take(raws(2n, 3n))
  expect(beginAll(work)).toEqual([])
  expect(commit(work)).toEqual({ offset: 2n, mark: { writers: ['me', 'me'], until: 3n } })
  expect(beginAll(work)).toEqual([2n])
})

test("another's mark covers nothing of ours", () => {
  const work = workAt(2n)
  work.take(raws(2n, 4n))
  work.committed({ assigned: work.assigned, offset: 2n, mark: { writers: ['other'], until: 9n } })
  expect(work.mayBegin()).toBe(false)
})

test('one record of all partitions at a time is in its last try', () => {
  const tried = { writers: ['a', 'b'], until: 4n }
  const works = [workAt(2n, tried), workAt(2n, tried)] as const
  for (const work of works) work.take(raws(2n, 4n))
  // Without leave there is nothing to commit: the mark stays as it was found.
  expect(works.map(commit)).toEqual([null, null])
  grantLastTry(works)
  expect(works.map(commit)).toEqual([{ offset: 2n, mark: { writers: ['a', 'b', 'me'], until: 4n } }, null])
  expect(works.map(beginAll)).toEqual([[2n], []])
  grantLastTry(works)
  expect(works.map(({ mayTryLast }) => mayTryLast)).toEqual([true, false])
  works[0].finish(raw(2n))
  grantLastTry(works)
  expect(works.map(({ mayTryLast }) => mayTryLast)).toEqual([false, true])
})

test('what has had its tries needs no mark, and is not marked again', () => {
  const work = workAt(2n, { writers: ['a', 'b', 'c'], until: 3n })
  work.take(raws(2n, 4n))
  expect(work.triesOf(raw(2n))).toBe(4)
  expect(commit(work)).toBeNull()
  expect(beginAll(work)).toEqual([2n])
  work.finish(raw(2n))
  expect(commit(work)).toEqual({ offset: 3n, mark: { writers: ['me'], until: 4n } })
})

test('a partition that comes back goes on only where nobody else has worked on it', () => {
  const work = workAt(0n)
  work.take(raws(0n, 6n))
  commit(work)
  const ours = { writers: ['me'], until: 4n }
  expect(work.continues(assignedAt(0n, ours))).toBe(true)
  expect(work.continues(assignedAt(1n, ours))).toBe(false)
  expect(work.continues(assignedAt(0n, { ...ours, until: 5n }))).toBe(false)
  expect(work.continues(assignedAt(0n, { ...ours, writers: ['other'] }))).toBe(false)
  expect(work.continues(assignedAt(0n))).toBe(false)
})

test('what runs goes on under a new generation, and what waits is taken again, once', () => {
  const work = workAt(0n)
  work.take(raws(0n, 6n))
  commit(work)
  work.begin()
  work.begin()
  work.paused = true
  work.adopt(assignedAt(0n, { writers: ['me'], until: 4n }))
  expect(work).toMatchObject({ paused: false, head: undefined, running: 2, bytes: 2 * weightBytes(raw(0n)) })
  work.take(raws(0n, 6n))
  expect(work.bytes).toBe(6 * weightBytes(raw(0n)))
  expect(beginAll(work)).toEqual([2n, 3n])
  for (const offset of [0n, 1n, 2n, 3n]) work.finish(raw(offset))
  expect(commit(work)).toEqual({ offset: 4n, mark: { writers: ['me'], until: 6n } })
})

test('a partition that is lost begins nothing more, and says so to what runs', () => {
  const work = workAt(0n)
  work.take(raws(0n, 2n))
  commit(work)
  work.begin()
  work.abandon()
  expect(beginAll(work)).toEqual([])
  expect([work.signal.aborted, work.waiting.aborted]).toEqual([true, true])
})

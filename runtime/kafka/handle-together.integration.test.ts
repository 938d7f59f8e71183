import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PermanentError, TransientError } from '../errors.ts'
import type { Service } from '../service.ts'
import type { Decoder, GroupHandler } from './records.ts'
import { setGroupOffsets } from './set-group-offsets.ts'
import {
  consumerOf,
  createConsumerBench,
  type ConsumerBench,
  type ConsumerParts,
} from '#tests/support/consumer-bench.ts'
import { until } from '#tests/support/until.ts'

jest.setTimeout(300_000)

/** Decodes without waiting too, as a codec does once it knows a schema. */
const decoder: Decoder<string> = {
  decode: (value) => {
    const text = value.toString()
    return text.startsWith('poison')
      ? Promise.reject(new PermanentError('UNDECODABLE', 'poison'))
      : Promise.resolve(text)
  },
  decodeNow: (value) => (value.toString().startsWith('poison') ? undefined : value.toString()),
}
const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`)

let bench: ConsumerBench
let consumer: Service | undefined
const consume = async (groupHandler: GroupHandler<string>, handle: ConsumerParts['handle']) => {
  const retry = { attempts: 20, initialDelayMs: 1, maxDelayMs: 10 }
  const parallel = { decoder, groupHandler, concurrency: 600, window: 400, retry }
  consumer = consumerOf({ kind: 'parallel', bench, handle, parallel })
  await consumer.start()
}
/** Whether everything that stands in the log is committed. */
const isThrough = async () => {
  const ends = await bench.admin.fetchTopicOffsets(bench.topic)
  const committed = new Map((await bench.committed()).map(({ partition, offset }) => [partition, offset]))
  return ends.every(({ partition, high }) => high === '0' || committed.get(partition) === high)
}
const marks = async () => (await bench.committed()).map(({ metadata }) => metadata)
const letters = async () =>
  (await bench.read(`${bench.topic}.dlq`))
    .map(({ value, headers }) => `${value?.toString() ?? ''}: ${headers['sluice-dlq-code']}`)
    .toSorted()

beforeEach(async () => {
  bench = await createConsumerBench('together')
})
afterEach(async () => {
  await consumer?.stop()
  await bench.close()
})

const count = 3_000
/** What becomes of a record in its group; the third is said while others of the group are under way. */
const dispositions = fc.array(fc.constantFrom('kept', 'handed back', 'over early', 'away at first'), {
  minLength: count,
  maxLength: count,
})
/**
 * How many turns a group takes, and whether it rejects: the first that comes, the second, and so on, again
 * and again.
 */
const courses = fc.array(fc.record({ turns: fc.nat(30), rejects: fc.constantFrom(true, false, false) }), {
  minLength: 50,
  maxLength: 50,
})

test('whatever is kept, handed back or refused together, every record is worked on once', () =>
  // Once: a failure prints the seed, and anything smaller would need a topic of its own.
  fc.assert(
    fc.asyncProperty(dispositions, courses, async (dispositionOf, courseOf) => {
      const plain = numbered('value', count)
      const special = ['poison', 'refuse me']
      const values = plain.flatMap((value, index) => (index === count / 2 ? [...special, value] : [value]))
      const done = { alone: [] as string[], together: [] as string[] }
      const sizes: number[] = []
      const away = new Set<string>()
      const disposition = (value: string) => dispositionOf[Number(value.slice('value '.length))]
      await bench.send(values)
      await consume(
        async (records, handBack, over) => {
          const { turns = 0, rejects = false } = courseOf[sizes.length % courseOf.length] ?? {}
          sizes.push(records.length)
          const said = new Set<number>()
          const say = (wanted: string, tell: (index: number) => void) =>
            records.forEach(({ value }, index) => {
              if (disposition(value) !== wanted) return
              said.add(index)
              tell(index)
            })
          say('handed back', handBack)
          for (let turn = 0; turn < turns; turn++) await nextTurn()
          say('over early', (index) => {
            done.together.push(records[index]?.value ?? '')
            over(index)
          })
          for (let turn = 0; turn < turns; turn++) await nextTurn()
          if (rejects) throw new TransientError('STORE_AWAY', 'not now')
          if (records.some(({ value }) => value === 'refuse me'))
            throw new PermanentError('REFUSED', 'one of them')
          records.forEach(({ value }, index) => {
            if (!said.has(index)) done.together.push(value)
          })
        },
        async (value) => {
          await nextTurn()
          if (value === 'refuse me') throw new PermanentError('REFUSED', 'this one')
          if (disposition(value) === 'away at first' && !away.has(value)) {
            away.add(value)
            throw new TransientError('STORE_AWAY', 'not now')
          }
          done.alone.push(value)
          return undefined
        },
      )
      await until(isThrough)
      await consumer?.stop()
      expect([...done.alone, ...done.together].toSorted()).toEqual(plain.toSorted())
      expect(await letters()).toEqual(['poison: UNDECODABLE', 'refuse me: REFUSED'])
      expect([await isThrough(), await marks()]).toEqual([true, [null, null, null]])
      // Otherwise this would say nothing.
      expect([done.alone.length > 100, done.together.length > 100]).toEqual([true, true])
      expect(Math.max(...sizes)).toBeLessThanOrEqual(200)
      expect(Math.max(...sizes)).toBeGreaterThan(1)
    }),
    { numRuns: 1, endOnFailure: true },
  ))

test('what may have ended a process before is tried alone, and what is begun beside it together', async () => {
  const names = ['once', 'thrice', 'never'] as const
  for (const [partition, name] of names.entries()) await bench.send(numbered(name, 40), partition)
  const mark = { topic: bench.topic, partition: 0, offset: 0n }
  await setGroupOffsets(bench.kafka, bench.groupId, [
    { ...mark, offset: 5n, metadata: 'sluice by=gone until=9' },
    { ...mark, partition: 1, metadata: 'sluice by=a,b,c until=4' },
  ])
  const alone: string[] = []
  const together: string[] = []
  await consume(
    (records) => Promise.resolve(void together.push(...records.map(({ value }) => value))),
    (value) => Promise.resolve(void alone.push(value)),
  )
  await until(isThrough)
  await consumer?.stop()
  const [once, thrice, never] = [numbered('once', 40), numbered('thrice', 40), numbered('never', 40)]
  expect(alone.filter((value) => value.startsWith('once')).slice(0, 4)).toEqual(once.slice(5, 9))
  expect(alone.filter((value) => value.startsWith('thrice')).slice(0, 3)).toEqual(thrice.slice(1, 4))
  expect(together).toEqual(expect.arrayContaining(never))
  const all = [...once.slice(5), ...thrice.slice(1), ...never]
  expect([...alone, ...together].toSorted()).toEqual(all.toSorted())
  expect(await letters()).toEqual(['thrice 0: CRASHED'])
  expect(await marks()).toEqual([null, null, null])
})

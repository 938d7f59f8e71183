import { expect, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import type { Clock } from '../clock.ts'
import { createLiveMembers } from './live-members.ts'

const clock: Clock = { now: () => 0, sleep: () => Promise.resolve() }
const { MemberMetadata } = kafkajs.AssignerProtocol

/** Live members as `me` finds them; the group gives each of `answers` in turn, the last one for ever. */
function liveMembers(...answers: { state?: string; names: string[] }[]) {
  const asked = { times: 0 }
  const call = createLiveMembers({
    name: 'me',
    heartbeatIntervalMs: 1,
    clock,
    stopping: new AbortController().signal,
    describeGroup: () => {
      const { state = 'Stable', names } = answers[Math.min(asked.times++, answers.length - 1)] ?? {
        names: [],
      }
      const members = names.map((name) => ({
        memberMetadata: MemberMetadata.encode({ version: 1, topics: ['t'], userData: Buffer.from(name) }),
      }))
      return Promise.resolve({ state, members } as never)
    },
  })
  const callAt = (from: bigint, ...writers: string[]) => call([placeOf(writers, from)], () => true)
  return { asked, callAt, call: (...writers: string[]) => callAt(7n, ...writers) }
}

function placeOf(writers: readonly string[], from = 7n) {
  const suspects = writers.length === 0 ? null : { from, mark: { writers, until: from + 2n } }
  return { topic: 't', partition: 0, suspects }
}
const suspected = (...writers: string[]) => [placeOf(writers).suspects]

test('without a mark nobody is asked for', async () => {
  const { asked, call } = liveMembers({ names: ['me'] })
  expect(await call()).toEqual([null])
  expect(asked.times).toBe(0)
})

test('the tries of members do not count, and are asked for again while the group deals', async () => {
  const { asked, call } = liveMembers({ state: 'PreparingRebalance', names: [] }, { names: ['me', 'other'] })
  expect(await call('gone', 'other')).toEqual(suspected('gone'))
  expect(asked.times).toBe(2)
  expect(await call('gone', 'other', 'me')).toEqual(suspected('gone'))
})

test('before a record is given up, anyone who was just dropped has time to come back', async () => {
  const { call } = liveMembers({ names: ['me'] }, { names: ['me', 'dropped'] })
  expect(await call('a', 'b', 'dropped')).toEqual(suspected('a', 'b'))
})

test('a record that throws its member out of the group again and again is suspected in the end', async () => {
  const { call } = liveMembers({ names: ['me'] })
  for (let time = 0; time < 10; time++) expect(await call('me')).toEqual([null])
  expect(await call('me')).toEqual(suspected('me'))
  expect(await call('me', 'me', 'me')).toEqual(suspected('me', 'me', 'me'))
  expect(await call('gone')).toEqual(suspected('gone'))
  expect(await call('me')).toEqual([null])
})

test('a member that is thrown out again and again, and gets on between, suspects no record', async () => {
  const { callAt } = liveMembers({ names: ['me'] })
  for (let from = 0n; from < 12n; from++) expect(await callAt(from, 'me')).toEqual([null])
})

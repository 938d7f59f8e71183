import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { outgoingRequest } from '#runtime/http1/request-head.ts'
import { createPeerConnector, type Peer } from '#tests/support/peer-connector.ts'
import { createReceiverConnections } from './receiver-connections.ts'

let peers: Peer[]
let connections: ReturnType<typeof createReceiverConnections>

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
  const connector = createPeerConnector()
  peers = connector.peers
  connections = createReceiverConnections({ connect: connector.connect, maxOpen: 2 })
})

afterEach(async () => {
  await connections.close()
  jest.useRealTimers()
})

/** A call to a receiver, over a connection of its own: whether its answer is whole. */
function call(receiver: string): { isAnswered: boolean } {
  const made = peers.length
  const state = { isAnswered: false }
  const host = `${receiver}.example`
  const request = outgoingRequest({ method: 'GET', target: '/', host, headers: [], body: null })
  connections.send({ origin: `http://${host}`, isQuick: true }, request, {
    onAnswer: () => undefined,
    onData: () => undefined,
    onEnd: () => (state.isAnswered = true),
    onError: () => undefined,
  })
  expect(peers).toHaveLength(made + 1)
  peers.at(-1)?.connect()
  return state
}

/** Answers all calls; their connections may serve again. */
async function answerAll(): Promise<void> {
  for (const { end, isClosed } of peers) if (!isClosed()) end.write('HTTP/1.1 204 No Content\r\n\r\n')
  await nextTurn()
}

function openConnections(): number {
  return peers.filter(({ isClosed }) => !isClosed()).length
}

test('connections that were too many are closed when the next is opened', async () => {
  const calls = ['a', 'b', 'b', 'c'].map((receiver) => call(receiver))
  expect(openConnections()).toBe(4)
  await answerAll()
  expect(calls.every(({ isAnswered }) => isAnswered)).toBe(true)
  call('d')
  expect(openConnections()).toBe(2)
})

test('a connection that has served in this turn of the event loop makes room as well', async () => {
  const [first] = [call('a'), call('b')]
  await nextTurn()
  peers[0]?.end.write('HTTP/1.1 204 No Content\r\n\r\n')
  expect(first.isAnswered).toBe(true)
  call('c')
  expect(peers.map(({ isClosed }) => isClosed())).toEqual([true, false, false])
})

test('an idle connection is closed before its receiver may do so, after 5 s', async () => {
  call('a')
  // The looks at the connections begin with the first: one that is free soon after that is found idle as late
  // as any.
  jest.advanceTimersByTime(10)
  await answerAll()
  jest.advanceTimersByTime(4_900)
  expect(openConnections()).toBe(0)
})

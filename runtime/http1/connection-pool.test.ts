import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createPeerPool, type Peer } from '#tests/support/peer-connector.ts'
import type { ConnectionPool } from './connection-pool.ts'
import type { Exchange } from './outgoing-call.ts'
import { outgoingRequest } from './request-head.ts'

let peers: Peer[]
let pool: ConnectionPool

beforeEach(() => {
  ;({ pool, peers } = createPeerPool())
})

afterEach(() => pool.close())

interface Sent {
  exchange: Exchange
  /** All its handler was told. */
  told: string[]
}

function send(name: string, method = 'GET', body: Buffer | null = null): Sent {
  const told: string[] = []
  const request = outgoingRequest({
    method,
    target: `/${name}`,
    host: 'server.example',
    headers: [],
    body,
  })
  const exchange = pool.send(request, {
    onBytes: (bytes) => told.push(`${bytes.length} bytes`),
    onAnswer: ({ status }) => told.push(String(status)),
    onData: (bytes) => told.push(bytes.toString()),
    onEnd: () => told.push('end'),
    onError: (error) => told.push(error.message),
  })
  return { exchange, told }
}

function peer(index: number): Peer {
  const found = peers[index]
  if (found === undefined) throw new Error(`there is no connection ${index}`)
  return found
}

/** The names of the calls that came over a connection. */
function heardBy({ heard }: Peer): string[] {
  return [...heard.matchAll(/^[A-Z]+ \/(\w+)/gm)].map(([, name = '']) => name)
}

/** Answers with the call's name, and returns what the handler should receive. Frees the connection. */
async function answer(to: Peer, name: string): Promise<string[]> {
  const text = `HTTP/1.1 200 OK\r\ncontent-length: ${name.length}\r\n\r\n${name}`
  to.end.write(text)
  await nextTurn()
  return [`${text.length} bytes`, '200', name, 'end']
}

/** A connection that has just served a call. */
async function restingConnection(): Promise<Peer> {
  const { told } = send('first')
  const made = peer(0)
  made.connect()
  expect(told).toEqual(await answer(made, 'first'))
  return made
}

/** One that is free for another. */
async function freeConnection(): Promise<Peer> {
  const made = await restingConnection()
  await nextTurn()
  return made
}

test('a call that waits for the connection of one broken off goes out once, and the next has its own answer', async () => {
  send('broken').exchange.abort(new Error('enough'))
  await nextTurn()
  const second = send('second')
  peer(0).connect()
  await nextTurn()
  expect(heardBy(peer(0))).toEqual(['second'])
  expect(second.told).toEqual(await answer(peer(0), 'second'))
  const third = send('third')
  await nextTurn()
  expect(heardBy(peer(0))).toEqual(['second', 'third'])
  expect(third.told).toEqual(await answer(peer(0), 'third'))
  expect(peers).toHaveLength(1)
})

test('a call goes out once over a connection that two have taken in one turn', async () => {
  send('broken').exchange.abort(new Error('enough'))
  await nextTurn()
  send('again').exchange.abort(new Error('enough'))
  send('third')
  peer(0).connect()
  await nextTurn()
  expect(heardBy(peer(0))).toEqual(['third'])
  expect(peers).toHaveLength(1)
})

test.each([
  ['what it sends unasked', (end: Peer['end']) => end.write('HTTP/1.1 408 Request Timeout\r\n\r\n')],
  ['what it sends unasked as a success', (end: Peer['end']) => end.write('HTTP/1.1 200 OK\r\n\r\n')],
  ['its end', (end: Peer['end']) => end.end()],
  ['that it breaks', (end: Peer['end']) => end.destroy()],
])(
  'a call that has not gone out hears nothing of a connection, %s, and goes over another, once',
  async (_what, act) => {
    const idle = await freeConnection()
    const second = send('second')
    act(idle.end)
    await nextTurn()
    expect(idle.isClosed()).toBe(true)
    peer(1).connect()
    await nextTurn()
    expect([heardBy(idle), heardBy(peer(1))]).toEqual([['first'], ['second']])
    expect(second.told).toEqual(await answer(peer(1), 'second'))
    expect(peers).toHaveLength(2)
  },
)

describe('a call that a used connection ends under, with nothing sent back,', () => {
  const endings: [string, (end: Peer['end']) => void][] = [
    ['closed', (end) => end.end()],
    ['broken', (end) => end.destroy()],
  ]

  test.each(endings)('%s, is sent once more over a new one, and no oftener', async (_how, act) => {
    const used = await freeConnection()
    const second = send('second')
    await nextTurn()
    act(used.end)
    await nextTurn()
    peer(1).connect()
    await nextTurn()
    expect([heardBy(used), heardBy(peer(1))]).toEqual([['first', 'second'], ['second']])
    expect(second.told).toEqual([])
    peer(1).end.end()
    await nextTurn()
    expect(second.told).toEqual(['the server closed the connection'])
    expect(peers).toHaveLength(2)
  })

  test.each<[string, string, Buffer | null]>([
    ['one that asks for something to be done', 'POST', null],
    ['one with a body', 'GET', Buffer.from('{}')],
  ])('is not where it is %s', async (_name, method, body) => {
    const used = await freeConnection()
    const second = send('second', method, body)
    await nextTurn()
    used.end.end()
    await nextTurn()
    expect(second.told).toEqual(['the server closed the connection'])
    expect(peers).toHaveLength(1)
  })

  test('nor once a byte has come back', async () => {
    const used = await freeConnection()
    const second = send('second')
    await nextTurn()
    used.end.write('H')
    await nextTurn()
    used.end.end()
    await nextTurn()
    expect(second.told).toEqual(['1 bytes', 'the server closed the connection'])
    expect(peers).toHaveLength(1)
  })
})

test('a call that no other connection may be opened for waits until an end behind the answer before is heard', async () => {
  const resting = await restingConnection()
  const second = send('second', 'POST', Buffer.from('{}'))
  await nextTurn()
  expect(heardBy(resting)).toEqual(['first'])
  resting.end.end()
  await nextTurn()
  peer(1).connect()
  await nextTurn()
  expect([heardBy(resting), heardBy(peer(1))]).toEqual([['first'], ['second']])
  expect(second.told).toEqual(await answer(peer(1), 'second'))
})

test('an idle connection that sends unasked is closed', async () => {
  const idle = await freeConnection()
  idle.end.write('HTTP/1.1 408 Request Timeout\r\n\r\n')
  await nextTurn()
  expect(idle.isClosed()).toBe(true)
  expect(pool.isEmpty).toBe(true)
})

describe('a call whose answer is read before its connection has said that all of it has gone,', () => {
  /** As over TLS, where that is said a turn late. Gives what lets it be said. */
  async function answeredEarly(): Promise<() => void> {
    const used = await freeConnection()
    const release = used.holdWrites()
    const early = send('early', 'POST', Buffer.from('{}\n'))
    await nextTurn()
    used.end.write('HTTP/1.1 204 No Content\r\n\r\n')
    await new Promise<void>((resolve) => process.nextTick(resolve))
    expect(early.told).toEqual(['27 bytes', '204', 'end'])
    return release
  }

  test('and says so within the turn, leaves its connection to the next', async () => {
    const release = await answeredEarly()
    release()
    await nextTurn()
    const next = send('next')
    await nextTurn()
    expect(heardBy(peer(0))).toEqual(['first', 'early', 'next'])
    expect(next.told).toEqual(await answer(peer(0), 'next'))
    expect(peers).toHaveLength(1)
  })

  test('and does not even then, does not: what is still to come would be read as the next', async () => {
    await answeredEarly()
    await nextTurn()
    expect(peer(0).isClosed()).toBe(true)
    send('next')
    peer(1).connect()
    await nextTurn()
    expect(heardBy(peer(1))).toEqual(['next'])
  })

  test('and does not, is not followed by one that no other connection may be opened for', async () => {
    await answeredEarly()
    const next = send('next')
    await nextTurn()
    await nextTurn()
    expect(peer(0).isClosed()).toBe(true)
    peer(1).connect()
    await nextTurn()
    expect(heardBy(peer(0))).toEqual(['first', 'early'])
    expect(next.told).toEqual(await answer(peer(1), 'next'))
  })
})

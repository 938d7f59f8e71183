import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createPeerPool, type Peer } from '#tests/support/peer-connector.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { outgoingRequest } from './request-head.ts'

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'
const kinds: [string, string[]][] = [
  ['chunked', []],
  ['of a length', ['content-length', '16']],
]

let peers: Peer[]
let pool: ConnectionPool

beforeEach(() => {
  ;({ pool, peers } = createPeerPool())
})

afterEach(() => pool.close())

/** Gives what its handler is told. */
function post(name: string, body: Buffer | Readable, headers: string[] = []): string[] {
  const told: string[] = []
  const request = outgoingRequest({
    method: 'POST',
    target: `/${name}`,
    host: 'server.example',
    headers,
    body,
  })
  pool.send(request, {
    onAnswer: ({ status }) => told.push(String(status)),
    onData: () => undefined,
    onEnd: () => told.push('end'),
    onError: (error) => told.push(error.message),
  })
  return told
}

async function freeConnection(): Promise<Peer> {
  post('first', Buffer.from('{}\n'))
  const [made] = peers
  if (made === undefined) throw new Error('there is no connection')
  made.connect()
  await nextTurn()
  made.end.write(noContent)
  await nextTurn()
  return made
}

function streamOf(...pieces: string[]): Readable {
  const body = new Readable({ read: () => undefined })
  for (const piece of pieces) body.push(piece)
  return body
}

async function tick(): Promise<void> {
  await new Promise<void>((resolve) => process.nextTick(resolve))
}

test.each(kinds)(
  'a body, %s, keeps its beginning when its connection drains before it',
  async (_kind, headers) => {
    const used = await freeConnection()
    const release = used.holdWrites()
    const long = post('long', Buffer.alloc(200_000, 'b'))
    await nextTurn()
    await tick()
    used.end.write(noContent)
    await tick()
    expect(long).toEqual(['204', 'end'])
    used.heard = ''
    const body = streamOf('first, ', 'second, ')
    post('streamed', body, headers)
    release()
    await nextTurn()
    body.push('3')
    body.push(null)
    await nextTurn()
    const heard = used.heard.slice(used.heard.indexOf('POST /streamed '))
    expect(heard).toMatch(/first, [^]*second, [^]*3/)
  },
)

test.each(kinds)(
  'a body, %s, that was answered before it came whole is not followed by a call',
  async (_kind, headers) => {
    const used = await freeConnection()
    const early = post('early', streamOf('beginning'), headers)
    await nextTurn()
    used.end.write('HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n')
    await nextTurn()
    expect(early).toEqual(['413', 'end'])
    expect(used.isClosed()).toBe(true)
    used.heard = ''
    post('next', Buffer.from('{}'))
    peers[1]?.connect()
    await nextTurn()
    expect([used.heard, peers[1]?.heard.split(' ')[1]]).toEqual(['', '/next'])
  },
)

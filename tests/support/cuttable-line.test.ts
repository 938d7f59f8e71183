import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { openLine, type CuttableLine } from './cuttable-line.ts'

const servers: Server[] = []
let line: CuttableLine
const clients: Socket[] = []

/** Echoes each chunk, prefixed by the server's name. */
async function startServer(name: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (piece: Buffer) => socket.write(`${name} heard ${piece.toString()}`))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function client(): Promise<Socket> {
  const socket = connect(Number(new URL(line.url).port), '127.0.0.1')
  clients.push(socket)
  await once(socket, 'connect')
  return socket
}

async function ask(socket: Socket, words: string): Promise<string> {
  socket.write(words)
  const [piece] = (await once(socket, 'data')) as [Buffer]
  return piece.toString()
}

beforeEach(async () => {
  line = await openLine(await startServer('one'))
})

afterEach(async () => {
  for (const socket of clients.splice(0)) socket.destroy()
  await line.close()
  for (const server of servers.splice(0)) server.close()
})

test('forwards data, also with a delay', async () => {
  const socket = await client()
  expect(await ask(socket, 'a')).toBe('one heard a')
  line.slow(5)
  expect(await ask(socket, 'b')).toBe('one heard b')
})

test('stalled, accepts connections and forwards nothing until mended', async () => {
  const before = await client()
  line.stall()
  const during = await client()
  const answers = Promise.all([ask(before, 'a'), ask(during, 'b')])
  const first = await Promise.race([answers, new Promise((resolve) => setTimeout(resolve, 50, 'silence'))])
  expect(first).toBe('silence')
  line.mend()
  expect(await answers).toEqual(['one heard a', 'one heard b'])
})

test('a reset closes open connections only; a cut refuses new ones until mended', async () => {
  const open = await client()
  await ask(open, 'a')
  line.reset()
  const [error] = (await once(open, 'error')) as [NodeJS.ErrnoException]
  expect(error.code).toBe('ECONNRESET')
  expect(await ask(await client(), 'b')).toBe('one heard b')
  line.cut()
  const refused = await client()
  await once(refused, 'close')
  line.mend()
  expect(await ask(await client(), 'c')).toBe('one heard c')
})

test('pointed at another server, routes new connections there', async () => {
  line.pointAt(await startServer('two'))
  expect(await ask(await client(), 'a')).toBe('two heard a')
})

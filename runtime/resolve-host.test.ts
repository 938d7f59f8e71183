import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { createDnsResolver } from './resolve-host.ts'

const kinds = { ipv4: 1, ipv6: 28 }

/** A name server that answers questions for one kind of address and drops the others. */
async function startNameServer(answers: keyof typeof kinds, address: Buffer) {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address: from }) => {
    if (question.readUInt16BE(question.indexOf(0, 12) + 1) !== kinds[answers]) return
    const asked = question.subarray(0, question.indexOf(0, 12) + 5)
    const header = Buffer.from([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
    const record = Buffer.from([0xc0, 0x0c, 0, kinds[answers], 0, 1, 0, 0, 0, 60, 0, address.length])
    socket.send(
      Buffer.concat([asked.subarray(0, 2), header, asked.subarray(12), record, address]),
      port,
      from,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { at: `127.0.0.1:${socket.address().port}`, close: () => socket.close() }
}

test.each([
  ['ipv4', Buffer.from([8, 8, 8, 8]), '8.8.8.8'],
  ['ipv6', Buffer.from('20010db8000000000000000000000001', 'hex'), '2001:db8::1'],
] as const)('a name server that answers for %s alone is not waited for', async (kind, bytes, address) => {
  const server = await startNameServer(kind, bytes)
  // Anyone who waits for the other kind waits for five minutes, and the test fails.
  const resolve = createDnsResolver(100_000, [server.at])
  expect(await resolve('receiver.example')).toEqual([address])
  server.close()
})

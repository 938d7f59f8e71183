import { expect, test } from '@jest/globals'
import { createStatusReader } from './status-line.ts'

const whole = (text: string) => createStatusReader().add(Buffer.from(text, 'latin1'))

test.each([
  ['HTTP/1.1 200 OK\r\n', 200],
  ['HTTP/1.0 204 No Content\r\nServer: x\r\n\r\n', 204],
  ['HTTP/1.1 200\r\n', 200],
  ['HTTP/1.1 503 \n', 503],
  ['HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 202 Accepted\r\n', 202],
  ['HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 301 Moved\r\n', 301],
  ['HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n', undefined],
  ['HTTP/1.1 200 O', undefined],
  ['HTTP/1.1 2000 OK\r\n', undefined],
  ['HTTP/1.1 2e2 OK\r\n', undefined],
  ['HTTP/2 200\r\n', undefined],
  ['ICY 200 OK\r\n', undefined],
  ['nonsense\r\nHTTP/1.1 200 OK\r\n', undefined],
  [`HTTP/1.1 200 ${'x'.repeat(70_000)}\r\n`, undefined],
])('%j', (text, status) => {
  expect(whole(text)).toBe(status)
})

test('a byte at a time, the status is known with the end of its line', () => {
  const reader = createStatusReader()
  const text = 'HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nC'
  const seen = Array.from(text, (character) => reader.add(Buffer.from(character)))
  expect(seen.indexOf(200)).toBe(text.lastIndexOf('\n'))
  expect(seen.at(-1)).toBe(200)
})

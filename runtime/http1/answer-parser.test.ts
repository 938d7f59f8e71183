import { describe, expect, test } from '@jest/globals'
import { MalformedAnswer } from './answer-head.ts'
import { AnswerParser } from './answer-parser.ts'

interface Heard {
  heads: [number, string, string[]][]
  body: string
  /** Trailers, and whether the connection may go on. */
  whole: [string[], boolean][]
  /** Whether the end of the connection was to be the end of the answer. */
  ended: boolean
}

/** What is heard of bytes that come in pieces of `size`, and then the connection ends. */
function hear(text: string, size = Infinity, method = 'POST'): Heard {
  const heard: Heard = { heads: [], body: '', whole: [], ended: false }
  const parser = new AnswerParser({
    onHead: ({ status, reason, headers }) => heard.heads.push([status, reason, headers]),
    onBody: (bytes) => (heard.body += bytes.toString('latin1')),
    onWhole: (trailers, isReusable) => heard.whole.push([trailers, isReusable]),
  })
  const bytes = Buffer.from(text, 'latin1')
  parser.expect(method)
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size))
  heard.ended = parser.end()
  return heard
}

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`

describe('an answer, in pieces of any size', () => {
  test.each<[string, string, Partial<Heard>]>([
    [
      'of known length: order, case and duplicates of its headers, and what is in them',
      `HTTP/1.1 429 Slow  Down\r\nX-b: 1\r\nx-B:\t2 \r\nEmpty:\r\nLatin: \u00a0caf\u00e9\r\nContent-Length: 3\r\n\r\nabc`,
      {
        heads: [
          [
            429,
            'Slow  Down',
            ['X-b', '1', 'x-B', '2', 'Empty', '', 'Latin', '\u00a0caf\u00e9', 'Content-Length', '3'],
          ],
        ],
        body: 'abc',
        whole: [[[], true]],
      },
    ],
    ['without a body', `HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n`, { body: '', whole: [[[], true]] }],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { whole: [[[], true]] }],
    ['304, whatever length it names', 'HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n', { whole: [[[], true]] }],
    ['that closes', `${ok}Connection: x, Close\r\nContent-Length: 1\r\n\r\na`, { whole: [[[], false]] }],
    [
      'that closes and then says that it stays',
      `${ok}Connection: close\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na`,
      { whole: [[[], false]] },
    ],
    [
      'of HTTP/1.0 that closes and then says that it stays',
      'HTTP/1.0 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na',
      { whole: [[[], false]] },
    ],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na', { whole: [[[], false]] }],
    [
      'of HTTP/1.0 that stays',
      'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na',
      { whole: [[[], true]] },
    ],
    ['up to the end of the connection', `${ok}\r\nabc`, { body: 'abc', whole: [[[], false]], ended: true }],
    [
      'in chunks',
      `${chunked}3\r\nabc\r\n0A;x="y"\r\n0123456789\r\n0\r\n\r\n`,
      {
        body: 'abc0123456789',
        whole: [[[], true]],
      },
    ],
    [
      'with trailers',
      `${chunked}1\r\na\r\n0\r\nX: 1\r\nx: 2\r\n\r\n`,
      {
        body: 'a',
        whole: [[['X', '1', 'x', '2'], true]],
      },
    ],
    [
      'after interim ones',
      `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 1\r\n\r\na`,
      {
        heads: [[200, 'OK', ['Content-Length', '1']]],
        body: 'a',
        whole: [[[], true]],
      },
    ],
    ['cut in its head', ok, { heads: [], whole: [], ended: false }],
    ['cut in its body', `${ok}Content-Length: 3\r\n\r\nab`, { body: 'ab', whole: [], ended: false }],
    ['cut in a chunk', `${chunked}3\r\nab`, { body: 'ab', whole: [], ended: false }],
    ['cut before its last line', `${chunked}1\r\na\r\n0\r\n`, { body: 'a', whole: [], ended: false }],
  ])('%s', (_name, text, expected) => {
    for (let size = 1; size <= text.length; size++) expect(hear(text, size)).toMatchObject(expected)
  })
})

test('of HEAD has a length and no body', () => {
  expect(hear(`${ok}Content-Length: 3\r\n\r\n`, Infinity, 'HEAD').whole).toEqual([[[], true]])
})

// Else the next request would be sent there, and answered with it.
test.each([
  ['of known length', `${ok}Content-Length: 1\r\n\r\na`],
  ['in chunks', `${chunked}1\r\na\r\n0\r\n\r\n`],
  ['with trailers', `${chunked}0\r\nX: 1\r\n\r\n`],
])('what comes behind an answer %s makes its connection useless', (_name, answer) => {
  const whole: boolean[] = []
  const parser = new AnswerParser({
    onHead: () => undefined,
    onBody: () => undefined,
    onWhole: (_trailers, isReusable) => whole.push(isReusable),
  })
  parser.expect('GET')
  expect(() => parser.push(Buffer.from(`${answer}HTTP/1.1 200 OK\r\n\r\n`))).toThrow('nobody asked')
  expect(whole).toEqual([false])
})

describe('no answer is', () => {
  test.each([
    ['another protocol', 'SMTP hello\r\n\r\n'],
    ['another protocol that then waits', 'HTTQ'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a protocol that changes', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['two lengths', `${ok}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`],
    ['a list of lengths', `${ok}Content-Length: 1, 1\r\n\r\na`],
    ['a length with a sign', `${ok}Content-Length: +1\r\n\r\na`],
    ['a length and chunks', `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['another coding', `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ['chunks twice', `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['a bare line feed', `${ok}X: a\nContent-Length: 1\r\n\r\na`],
    ['a bare carriage return', `${ok}X: a\rb\r\n\r\n`],
    ['NUL in a value', `${ok}X: a\u0000b\r\n\r\n`],
    ['a folded line', `${ok}X: a\r\n b\r\n\r\n`],
    ['a space before the colon', `${ok}Content-Length : 1\r\n\r\na`],
    ['a line without a name', `${ok}: x\r\n\r\n`],
    ['a line without a colon', `${ok}x\r\n\r\n`],
    ['a chunk without a length', `${chunked}\r\na\r\n0\r\n\r\n`],
    ['a chunk with a prefix', `${chunked}0x1\r\na\r\n0\r\n\r\n`],
    ['a chunk longer than it says', `${chunked}1\r\nab\r\n0\r\n\r\n`],
    ['a chunk with a bare line feed', `${chunked}1\na\r\n0\r\n\r\n`],
    ['a length that overflows', `${chunked}10000000000000001\r\na`],
    ['trailers without a name', `${chunked}0\r\n x: 1\r\n\r\n`],
    ['headers over 64 KiB', `${ok}X: ${'x'.repeat(70_000)}\r\n\r\n`],
    ['headers over 64 KiB that do not end', `${ok}X: ${'x'.repeat(70_000)}`],
    ['an extension over 4 KiB', `${chunked}1;${'x'.repeat(5_000)}\r\na`],
  ])('%s', (_name, text) => {
    for (const size of [1, 7, 4_096, Infinity]) expect(() => hear(text, size)).toThrow(MalformedAnswer)
  })
})

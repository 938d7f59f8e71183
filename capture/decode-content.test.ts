import { expect, test } from '@jest/globals'
import zlib from 'node:zlib'
import { decodeContent } from './decode-content.ts'

const text = Buffer.from('{"answer":"' + 'yes '.repeat(5_000) + '"}')
const mebibyte = 1024 * 1024

test.each<[string, Buffer]>([
  ['gzip', zlib.gzipSync(text)],
  ['x-gzip', zlib.gzipSync(text)],
  ['deflate', zlib.deflateSync(text)],
  ['deflate', zlib.deflateRawSync(text)],
  ['br', zlib.brotliCompressSync(text)],
  ['zstd', zlib.zstdCompressSync(text)],
  ['GZIP, br', zlib.brotliCompressSync(zlib.gzipSync(text))],
  ['identity', text],
  [' identity , gzip,', zlib.gzipSync(text)],
])('%s', async (coding, encoded) => {
  expect(await decodeContent(coding, encoded, mebibyte)).toEqual({ bytes: text, cut: false })
})

test('a bomb gives no more than was asked for', async () => {
  const bomb = zlib.gzipSync(Buffer.alloc(64 * mebibyte))
  const decoded = await decodeContent('gzip', bomb, 1_000)
  expect(decoded?.bytes).toHaveLength(1_000)
  expect(decoded?.cut).toBe(true)
  expect(decoded?.end).toBeUndefined()
})

test('one that is longer, within bounds, gives its end too', async () => {
  const decoded = await decodeContent('gzip', zlib.gzipSync(text), 1_000, 100_000)
  expect(decoded).toEqual({ bytes: text.subarray(0, 1_000), cut: true, end: text.subarray(-4_096) })
})

test('a body that breaks off gives what it held', async () => {
  const noise = Buffer.from(Array.from({ length: 50_000 }, (_, at) => (at * at * 31) % 251))
  const encoded = zlib.gzipSync(noise)
  const decoded = await decodeContent('gzip', encoded.subarray(0, encoded.length / 2), mebibyte)
  expect(decoded?.bytes.length).toBeGreaterThan(0)
  expect(noise.subarray(0, decoded?.bytes.length).equals(decoded?.bytes ?? Buffer.alloc(0))).toBe(true)
})

test('what is cut at an outer coding is cut, also where the inner one came to its end', async () => {
  const encoded = zlib.brotliCompressSync(Buffer.concat([zlib.gzipSync(text), Buffer.alloc(mebibyte)]))
  const decoded = await decodeContent('gzip, br', encoded, 50_000)
  expect([decoded?.bytes.equals(text), decoded?.cut]).toEqual([true, true])
})

test('junk, an unknown coding, too many codings', async () => {
  expect(await decodeContent('gzip', Buffer.from('junk'), 100)).toEqual({ bytes: Buffer.alloc(0), cut: true })
  expect(await decodeContent('aes128gcm', text, 100)).toBeUndefined()
  expect(await decodeContent('gzip,gzip,gzip,gzip', text, 100)).toBeUndefined()
})

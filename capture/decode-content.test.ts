import { expect, jest, test } from '@jest/globals'
import zlib from 'node:zlib'
import { decodeContent } from './decode-content.ts'

// Takes over 10 s beside five other test processes on two cores.
jest.setTimeout(120_000)

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

const half = 10_000
const halves = [text.subarray(0, half), text.subarray(half)]
const skippable = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4])
const zstdFrames = halves.map((part) => zlib.zstdCompressSync(part))
const gzipMembers = halves.map((part) => zlib.gzipSync(part))
/** A gzip header with name, comment, extra field and checksum. */
const head = Buffer.concat([
  Buffer.from([0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3, 2, 0, 9, 9]),
  Buffer.from('name\0comment\0'),
])
const headCrc = Buffer.from(Uint16Array.of(zlib.crc32(head) % 2 ** 16).buffer)
const headed = Buffer.concat([head, headCrc, zlib.gzipSync(text).subarray(10)])

test.each<[string, string, Buffer[]]>([
  ['frames', 'zstd', zstdFrames],
  [
    'skippable frames before, between and behind frames',
    'zstd',
    zstdFrames.flatMap((frame) => [skippable, frame, skippable]),
  ],
  [
    'frames of a checksum',
    'zstd',
    halves.map((part) =>
      zlib.zstdCompressSync(part, { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } }),
    ),
  ],
  ['members', 'gzip', gzipMembers],
  ['a member with all that its head may have', 'gzip', [headed]],
  ['no bytes', 'gzip', []],
])('a body of %s is whole', async (_name, coding, units) => {
  const bytes = units.length === 0 ? Buffer.alloc(0) : text
  expect(await decodeContent(coding, Buffer.concat(units), mebibyte)).toEqual({ bytes, cut: false })
})

test.each<[string, Buffer]>([
  ['gzip', zlib.gzipSync(text)],
  ['deflate', zlib.deflateSync(text)],
  ['deflate', zlib.deflateRawSync(text)],
  ['br', zlib.brotliCompressSync(text)],
  ['zstd', zlib.zstdCompressSync(text)],
])('%s with bytes behind it, or cut anywhere, is not whole', async (coding, encoded) => {
  for (const behind of ['garbage', '\0', '\x1f\x8b', '\x28\xb5\x2f\xfd']) {
    const more = Buffer.concat([encoded, Buffer.from(behind, 'latin1')])
    expect(await decodeContent(coding, more, mebibyte)).toEqual({ bytes: text, cut: true })
  }
  for (let length = 1; length < encoded.length; length++) {
    const decoded = await decodeContent(coding, encoded.subarray(0, length), mebibyte)
    expect(decoded?.cut).toBe(true)
    expect(text.subarray(0, decoded?.bytes.length).equals(decoded?.bytes ?? text)).toBe(true)
  }
})

test('bytes that differ from what their checksum says are not whole', async () => {
  const encoded = zlib.gzipSync(text)
  for (const at of [encoded.length - 1, encoded.length - 8]) {
    const changed = Buffer.from(encoded)
    changed.writeUInt8((encoded[at] ?? 0) ^ 1, at)
    expect(await decodeContent('gzip', changed, mebibyte)).toEqual({ bytes: text, cut: true })
  }
})

test.each<[string, Buffer[]]>([
  ['gzip', gzipMembers],
  ['zstd', zstdFrames],
])('%s: bounds are those of all units together', async (coding, units) => {
  const encoded = Buffer.concat(units)
  expect(await decodeContent(coding, encoded, half + 10)).toEqual({
    bytes: text.subarray(0, half + 10),
    cut: true,
  })
  expect(await decodeContent(coding, encoded, 1_000, mebibyte)).toEqual({
    bytes: text.subarray(0, 1_000),
    cut: true,
    end: text.subarray(-4_096),
  })
})

test('of very many frames the first are read', async () => {
  const frame = zlib.zstdCompressSync('')
  const decoded = await decodeContent(
    'zstd',
    Buffer.concat([...zstdFrames, ...Array<Buffer>(10_000).fill(frame)]),
    mebibyte,
  )
  expect(decoded).toEqual({ bytes: text, cut: true })
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

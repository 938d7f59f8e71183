import { randomBytes } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import { zstdContentSize } from './zstd-size.ts'

test.each([20, 255, 256, 300, 65_791, 65_792, 1_000_000])('a frame of %i bytes says so', (length) => {
  const bytes = randomBytes(length)
  expect(zstdContentSize(zstdCompressSync(bytes, { pledgedSrcSize: length }))).toBe(length)
})

test('what does not say its size has none', () => {
  expect(zstdContentSize(Buffer.alloc(0))).toBeUndefined()
  expect(zstdContentSize(Buffer.from('{"text": "a body that is not compressed"}'))).toBeUndefined()
  const unsized = zstdCompressSync(randomBytes(300_000))
  // Not a single segment, without a dictionary and a size.
  unsized.writeUInt8(0, 4)
  expect(zstdContentSize(unsized)).toBeUndefined()
})

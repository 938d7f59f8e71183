import { expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { createResealer, createSealer, warnWithoutKeys } from './sealing.ts'

const key = (id: string, fill: number) => ({ id, key: Buffer.alloc(32, fill) })
const body = Buffer.from(JSON.stringify({ text: 'a body that compresses '.repeat(50) }))

test('opens what it sealed, smaller and unreadable', () => {
  const sealer = createSealer([key('k1', 1)])
  const sealed = sealer.seal(body, 'prj/req/request_body')
  expect(sealed).toMatchObject({ codec: 'zstd', key_id: 'k1' })
  expect(sealed.data.length).toBeLessThan(body.length)
  expect(sealer.open(sealed, 'prj/req/request_body')).toEqual(body)
  expect(sealer.sizeOf(sealed, 'prj/req/request_body')).toBe(body.length)
  expect(() => sealer.sizeOf(sealed, 'prj/other/request_body')).toThrow('cannot be opened')
})

test('without keys it compresses only, and leaves short bytes alone', () => {
  const sealer = createSealer([])
  expect(sealer.seal(Buffer.from('{}'), 'x')).toEqual({
    codec: 'none',
    key_id: null,
    data: Buffer.from('{}'),
  })
  expect(sealer.open(sealer.seal(body, 'x'), 'x')).toEqual(body)
})

test('that there are no keys is said, and nothing where there are', () => {
  const said: unknown[] = []
  const log = { warn: (text: unknown) => void said.push(text) }
  warnWithoutKeys([key('k1', 1)], log)
  expect(said).toEqual([])
  warnWithoutKeys([], log)
  expect(said).toEqual([expect.stringMatching(/^BODY_ENCRYPTION_KEYS is not set/)])
})

test('never takes a nonce twice', () => {
  const sealer = createSealer([key('k1', 1)])
  const nonces = Array.from({ length: 1_000 }, () => sealer.seal(body, 'x').data.toString('hex', 0, 12))
  expect(new Set(nonces).size).toBe(nonces.length)
})

test('a rotated key still opens what it sealed', () => {
  const sealed = createSealer([key('k1', 1)]).seal(body, 'x')
  const rotated = createSealer([key('k2', 2), key('k1', 1)])
  expect(rotated.open(sealed, 'x')).toEqual(body)
  expect(rotated.seal(body, 'x').key_id).toBe('k2')
})

test.each([
  ['under another key', [key('k1', 1)]],
  ['under none', []],
])('what was sealed %s is sealed under the first', (_name, keys) => {
  const sealed = createSealer(keys).seal(body, 'x')
  const resealed = createResealer([key('k2', 2), key('k1', 1)])?.reseal(sealed, 'x')
  expect(resealed).toMatchObject({ codec: 'zstd', key_id: 'k2' })
  expect(resealed && createSealer([key('k2', 2)]).open(resealed, 'x')).toEqual(body)
})

test('what does not compress stays as it is', () => {
  const noise = randomBytes(1_000)
  expect(createSealer([]).seal(noise, 'x')).toEqual({ codec: 'none', key_id: null, data: noise })
})

test.each([
  ['another identity', (sealed: Buffer) => sealed, 'y', [key('k1', 1)]],
  ['a flipped bit', flipFirstBit, 'x', [key('k1', 1)]],
  ['an unknown key', (sealed: Buffer) => sealed, 'x', [key('k2', 1)]],
  ['bytes cut off', (sealed: Buffer) => sealed.subarray(0, 20), 'x', [key('k1', 1)]],
])('refuses %s', (_name, change, identity, keys) => {
  const sealed = createSealer([key('k1', 1)]).seal(body, 'x')
  expect(() => createSealer(keys).open({ ...sealed, data: change(sealed.data) }, identity)).toThrow(
    expect.objectContaining({ code: 'CANNOT_OPEN', retry: 'never' }),
  )
})

test('refuses a frame that expands beyond the bound', () => {
  const sealer = createSealer([])
  const bomb = sealer.seal(Buffer.alloc(65 * 1024 * 1024), 'x')
  expect(() => sealer.open(bomb, 'x')).toThrow(expect.objectContaining({ code: 'CANNOT_OPEN' }))
})

function flipFirstBit(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeUInt8(changed.readUInt8(0) ^ 1, 0)
  return changed
}

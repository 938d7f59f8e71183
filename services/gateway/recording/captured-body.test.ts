import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { createCaptureBudget } from './capture-budget.ts'
import { CapturedBody } from './captured-body.ts'

const body = randomBytes(2_000_003)

test.each([
  ['in reads of a connection', 65_536],
  ['in one', body.length],
  ['in pieces that fit no block', 99_991],
])('a large body %s is kept as it came, and cut with the hash of all of it', (_name, chunkBytes) => {
  for (const maxBytes of [body.length, 1_500_001]) {
    const budget = createCaptureBudget(64 * 1024 * 1024)
    const captured = new CapturedBody(budget, maxBytes)
    for (let at = 0; at < body.length; at += chunkBytes) captured.add(body.subarray(at, at + chunkBytes))
    const { bytes, byteLength, sha256 } = captured.bytes()
    expect(bytes.equals(body.subarray(0, maxBytes))).toBe(true)
    expect(byteLength).toBe(body.length)
    const isCut = maxBytes < body.length
    expect(sha256).toBe(isCut ? createHash('sha256').update(body).digest('hex') : null)
    captured.release()
    expect(budget.used()).toBe(0)
  }
})

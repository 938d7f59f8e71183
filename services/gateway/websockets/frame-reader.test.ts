import { randomBytes } from 'node:crypto'
import { constants, createDeflateRaw } from 'node:zlib'
import { expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { createCaptureBudget } from '../recording/capture-budget.ts'
import { FrameReader, type UnreadReason } from './frame-reader.ts'
import type { Deflation } from './inflate-messages.ts'

/** A frame, by another way than the reader's. */
function frame(
  opcode: number,
  payload: Buffer,
  { isLast = true, isCompressed = false, isMasked = false } = {},
) {
  const head = [(isLast ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode]
  const masked = isMasked ? 0x80 : 0
  if (payload.length < 126) head.push(masked | payload.length)
  else if (payload.length < 65_536) head.push(masked | 126, payload.length >> 8, payload.length & 255)
  else head.push(masked | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((bits) => (payload.length >> bits) & 255))
  if (!isMasked) return Buffer.concat([Buffer.from(head), payload])
  const mask = randomBytes(4)
  return Buffer.concat([Buffer.from(head), mask, payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0))])
}

/** Compresses messages as a peer that keeps its context does. */
async function deflated(messages: readonly Buffer[]): Promise<Buffer[]> {
  const stream = createDeflateRaw()
  const all: Buffer[] = []
  for (const message of messages) {
    const chunks: Buffer[] = []
    const take = (chunk: Buffer) => chunks.push(chunk)
    stream.on('data', take)
    stream.write(message)
    await new Promise<void>((resolve) => {
      stream.flush(constants.Z_SYNC_FLUSH, resolve)
    })
    stream.off('data', take)
    all.push(Buffer.concat(chunks).subarray(0, -4))
  }
  stream.close()
  return all
}

function readerOf(deflation?: Deflation, maxBytes = 1 << 20) {
  const budget = createCaptureBudget(8 << 20)
  const messages: Buffer[] = []
  const unread: UnreadReason[] = []
  const onMessage = (bytes: Buffer) => void messages.push(Buffer.from(bytes))
  const reader = new FrameReader({
    budget,
    maxBytes,
    deflation,
    onMessage,
    onUnread: (why) => unread.push(why),
  })
  return { reader, messages, unread, budget }
}

const messagesArbitrary = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.string({ maxLength: 60 }).map((text) => Buffer.from(text.repeat(2_000))),
  ),
  { maxLength: 5 },
)

test('messages are read whatever their fragments, masks, compression, and however the bytes arrive', async () => {
  await fc.assert(
    fc.asyncProperty(
      messagesArbitrary,
      fc.boolean(),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 20 }),
      async (sent, isMasked, isCompressed, sizes) => {
        const payloads = isCompressed ? await deflated(sent) : sent
        const frames = payloads.flatMap((payload, index) => {
          const middle = index % 2 === 0 ? payload.length : Math.floor(payload.length / 3)
          const rest = payload.subarray(middle)
          const isWhole = middle === payload.length
          const first = frame(2, payload.subarray(0, middle), { isLast: isWhole, isCompressed, isMasked })
          const ping = frame(9, Buffer.from('?'), { isMasked })
          return isWhole ? [first, ping] : [first, ping, frame(0, rest, { isMasked })]
        })
        const bytes = Buffer.concat(frames)
        const { reader, messages, unread, budget } = readerOf(
          isCompressed ? { keepsContext: true } : undefined,
        )
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1
          reader.push(bytes.subarray(at, at + size))
          at += size
        }
        expect(messages).toEqual(sent)
        expect(unread).toEqual([])
        expect(reader.isBetweenFrames).toBe(true)
        expect(budget.used()).toBe(0)
      },
    ),
    { numRuns: 60 },
  )
})

test('a message beyond the limit is skipped, and the next is read', () => {
  const { reader, messages, unread, budget } = readerOf(undefined, 1_000)
  reader.push(Buffer.concat([frame(1, Buffer.alloc(1_001)), frame(1, Buffer.from('{}'))]))
  expect({ messages, unread, used: budget.used() }).toEqual({
    messages: [Buffer.from('{}')],
    unread: ['too_large'],
    used: 0,
  })
})

test('a few compressed bytes that would become many are not decompressed beyond the limit', async () => {
  const { reader, messages, unread } = readerOf({ keepsContext: false }, 1_000)
  const [bomb = Buffer.alloc(0)] = await deflated([Buffer.alloc(1 << 20)])
  const [small = Buffer.alloc(0)] = await deflated([Buffer.from('{}')])
  for (const payload of [bomb, small]) reader.push(frame(1, payload, { isCompressed: true }))
  expect({ messages, unread }).toEqual({ messages: [Buffer.from('{}')], unread: ['too_large'] })
})

test('once a compressed message is missing, those that may refer to it are not guessed', async () => {
  const { reader, messages, unread } = readerOf({ keepsContext: true }, 1_000)
  const [long, next] = (await deflated([Buffer.alloc(5_000, 'abc'), Buffer.from('abcabcabc')])) as [
    Buffer,
    Buffer,
  ]
  for (const payload of [long, next]) reader.push(frame(1, payload, { isCompressed: true }))
  reader.push(frame(1, Buffer.from('plain')))
  expect({ messages, unread }).toEqual({
    messages: [Buffer.from('plain')],
    unread: ['too_large', 'compression'],
  })
})

test.each([
  ['an unknown opcode', frame(3, Buffer.alloc(0))],
  ['a continuation of nothing', frame(0, Buffer.from('x'))],
  [
    'a message within a message',
    Buffer.concat([frame(1, Buffer.alloc(1), { isLast: false }), frame(1, Buffer.alloc(1))]),
  ],
  ['compression that nobody agreed on', frame(1, Buffer.alloc(1), { isCompressed: true })],
  ['a fragmented ping', frame(9, Buffer.alloc(0), { isLast: false })],
  ['a length that no number holds', Buffer.from([0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255])],
])('%s ends the reading, once, and holds no memory', (_name, bytes) => {
  const { reader, messages, unread, budget } = readerOf()
  reader.push(bytes)
  reader.push(frame(1, Buffer.from('{}')))
  expect({ messages, unread, used: budget.used() }).toEqual({ messages: [], unread: ['malformed'], used: 0 })
  expect(reader.isBetweenFrames).toBe(false)
})

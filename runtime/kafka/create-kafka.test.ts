import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import { pino } from 'pino'
import { createKafka } from './create-kafka.ts'

function capturedLog() {
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { level: 'debug', messageKey: 'msg' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  )
  return { log, lines }
}

describe('createKafka', () => {
  test("writes kafkajs's lines into our log without what requests hold", () => {
    const { log, lines } = capturedLog()
    const kafka = createKafka({ KAFKA_BROKERS: ['127.0.0.1:1'] }, { clientId: 'test', log })
    kafka.logger().error('it broke', { broker: '127.0.0.1:1', error: 'why', payload: 'what somebody wrote' })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ level: 40, msg: 'it broke', broker: '127.0.0.1:1', error: 'why' })
    expect(JSON.stringify(lines)).not.toContain('what somebody wrote')
  })

  test('warns once in a while of what kafkajs repeats', () => {
    const { log, lines } = capturedLog()
    const logger = createKafka({ KAFKA_BROKERS: ['127.0.0.1:1'] }, { clientId: 'test', log }).logger()
    for (let index = 0; index < 20; index++) logger.error('Connection error', { broker: '127.0.0.1:1' })
    logger.error('Connection error', { broker: '127.0.0.1:2' })
    expect(lines.filter(({ level }) => level === 40)).toHaveLength(2)
    expect(lines).toHaveLength(21)
  })

  test.each([
    ['a small batch', Buffer.from('the same words over and over '.repeat(50))],
    ['a large batch', Buffer.from('the same words over and over '.repeat(100_000))],
    ['a large batch that does not get smaller', randomBytes(500_000)],
    ['nothing', Buffer.alloc(0)],
  ])('packs and unpacks %s', async (_name, batch) => {
    createKafka({ KAFKA_BROKERS: ['127.0.0.1:1'] }, { clientId: 'test', log: capturedLog().log })
    const codec = (kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] as () => Codec)()
    expect((await codec.decompress(await codec.compress({ buffer: batch }))).equals(batch)).toBe(true)
    await expect(codec.decompress(Buffer.from('no zstd'))).rejects.toThrow()
  })

  test.each([
    ['small frames', 50],
    ['large frames', 400_000],
  ])('unpacks a batch of several %s, and skippable ones', async (_name, bytes) => {
    createKafka({ KAFKA_BROKERS: ['127.0.0.1:1'] }, { clientId: 'test', log: capturedLog().log })
    const codec = (kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] as () => Codec)()
    const batch = randomBytes(2 * bytes)
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2])
    const frames = [batch.subarray(0, bytes), batch.subarray(bytes)].map((half) => zstdCompressSync(half))
    const packed = Buffer.concat([skippable, ...frames, skippable])
    expect((await codec.decompress(packed)).equals(batch)).toBe(true)
    await expect(codec.decompress(Buffer.concat([packed, Buffer.from('x')]))).rejects.toThrow()
  })

  test('leaves no timer behind in an idle request queue', () => {
    const { log } = capturedLog()
    createKafka({ KAFKA_BROKERS: ['127.0.0.1:1'] }, { clientId: 'test', log })
    const load = createRequire(import.meta.url)
    const RequestQueue = load('kafkajs/src/network/requestQueue/index.js') as new (options: object) => Queue
    const queue = new RequestQueue({
      instrumentationEmitter: null,
      maxInFlightRequests: 1,
      requestTimeout: 1_000,
      enforceRequestTimeout: false,
      clientId: 'test',
      broker: 'none',
      logger: { namespace: () => ({ debug: () => undefined }) },
    })
    queue.checkPendingRequests()
    expect(queue.throttleCheckTimeoutId).toBeNull()
    queue.destroy()
  })
})

interface Codec {
  compress(encoder: { buffer: Buffer }): Promise<Buffer>
  decompress(packed: Buffer): Promise<Buffer>
}

interface Queue {
  throttleCheckTimeoutId: unknown
  checkPendingRequests(): void
  destroy(): void
}

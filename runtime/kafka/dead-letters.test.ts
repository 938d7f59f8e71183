import { expect, test } from '@jest/globals'
import type { KafkaMessage } from 'kafkajs'
import { pino } from 'pino'
import { systemClock } from '../clock.ts'
import { PermanentError } from '../errors.ts'
import { createMetrics } from '../metrics.ts'
import { createConsumerMetrics } from './consumer-metrics.ts'
import { createDeadLetters } from './dead-letters.ts'

test.each([
  ['a request', 'req_01h455vb4pex5vsknk084sn02q', 'req_01h455vb4pex5vsknk084sn02q'],
  ['what is no identifier and may be what somebody wrote', 'my card is 4111', undefined],
])(
  'the log names the place of a dead letter, and its key only where that is an identifier: %s',
  async (_what, key, logged) => {
    const lines: Record<string, unknown>[] = []
    const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
    const send = createDeadLetters({
      producer: {
        send: () => Promise.resolve(),
        start: () => Promise.resolve(),
        stop: () => Promise.resolve(),
      },
      groupId: 'g',
      clock: systemClock,
      log: pino({}, { write }),
      metrics: createConsumerMetrics(createMetrics(), 'g'),
      omitValue: () => false,
    })
    const message = {
      key: Buffer.from(key),
      value: Buffer.from('x'),
      timestamp: '7',
      offset: '8',
    } as KafkaMessage
    const error = new PermanentError('BAD_ROW', 'six')
    await send([{ raw: { topic: 't', partition: 1, offset: 8n, message }, error }])
    expect(lines).toMatchObject([
      { msg: 'record dead-lettered', code: 'BAD_ROW', topic: 't', partition: 1, offset: '8' },
    ])
    expect(lines[0]?.['key']).toBe(logged)
  },
)

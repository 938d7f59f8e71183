import type { Span, Tracing } from '../tracing/tracing.ts'
import type { Service } from '../service.ts'
import type { OutgoingRecord, Producer } from './records.ts'

type ObservedProducer = Producer & Pick<Service, 'health'>

/**
 * A producer that makes a span for each record with a `trace`, and sends its context in the record's headers.
 * The span ends once Kafka has the records that were sent with it.
 */
export function traceSends(producer: ObservedProducer, tracing: Tracing | undefined): ObservedProducer {
  if (tracing === undefined) return producer
  const send = async (records: readonly OutgoingRecord[]) => {
    const spans: Span[] = []
    const traced = records.map((record) => {
      if (record.trace === undefined) return record
      const span = startSend(tracing, record)
      spans.push(span)
      return { ...record, headers: { ...record.headers, ...span.context } }
    })
    try {
      await producer.send(traced)
    } catch (error) {
      for (const span of spans) span.end(error)
      throw error
    }
    for (const span of spans) span.end()
  }
  return {
    start: () => producer.start(),
    stop: () => producer.stop(),
    health: () => producer.health(),
    send,
  }
}

function startSend(tracing: Tracing, { topic, trace }: OutgoingRecord): Span {
  return tracing.start(`send ${topic}`, 'producer', [trace], {
    'messaging.system': 'kafka',
    'messaging.operation.type': 'send',
    'messaging.destination.name': topic,
  })
}

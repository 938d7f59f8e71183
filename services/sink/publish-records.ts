import type { Encoder, OutgoingRecord, Producer } from '#runtime/kafka/records.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'

interface Publisher<T> {
  producer: Producer
  topic: string
  encoder: Encoder<T>
}

/** Publishes jobs, keyed by request. Resolves once Kafka has them all. */
export function createJobPublisher({ producer, topic, encoder }: Publisher<ScoreJob>) {
  return (jobs: readonly ScoreJob[]) => send({ producer, topic, encoder }, jobs, (job) => job.request_id)
}

/** Publishes events, keyed by project. Resolves once Kafka has them all. */
export function createEventPublisher({ producer, topic, encoder }: Publisher<RaisedEvent>) {
  return (events: readonly RaisedEvent[]) =>
    send({ producer, topic, encoder }, events, (event) => event.project_id)
}

/** Encoded and sent this much at a time, so that a batch of large bodies neither stands in memory twice nor fills the producer's buffer. */
const sliceBytes = 8 * 1024 * 1024

async function send<T>(
  { producer, topic, encoder }: Publisher<T>,
  values: readonly T[],
  keyOf: (value: T) => string,
): Promise<void> {
  let slice: OutgoingRecord[] = []
  let bytes = 0
  for (const value of values) {
    const encoded = await encoder.encode(value)
    slice.push({ topic, key: keyOf(value), value: encoded })
    bytes += encoded.length
    if (bytes < sliceBytes) continue
    await producer.send(slice)
    slice = []
    bytes = 0
  }
  if (slice.length > 0) await producer.send(slice)
}

import { PermanentError } from '#runtime/errors.ts'
import type { Encoder, OutgoingRecord, Producer } from '#runtime/kafka/records.ts'
import type { TraceContext } from '#runtime/tracing/tracing.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'

interface Publisher<T> {
  producer: Producer
  topic: string
  encoder: Encoder<T>
}

/** What each value goes on, in the same order. */
type Traces = readonly (TraceContext | undefined)[]

/** Publishes jobs, keyed by request. Resolves once Kafka has them all. */
export function createJobPublisher({ producer, topic, encoder }: Publisher<ScoreJob>) {
  return (jobs: readonly ScoreJob[], traces?: Traces) =>
    send({ producer, topic, encoder }, jobs, (job) => job.request_id, traces)
}

/** Publishes events, keyed by project. Resolves once Kafka has them all. */
export function createEventPublisher({
  producer,
  topic,
  encoder,
  traceOf,
}: Publisher<RaisedEvent> & {
  /** By the event's id. */
  traceOf: (eventId: string) => TraceContext | undefined
}) {
  return (events: readonly RaisedEvent[]) =>
    send(
      { producer, topic, encoder },
      events,
      (event) => event.project_id,
      events.map(({ id }) => traceOf(id)),
    )
}

type Publish<T> = (values: readonly T[]) => Promise<void>
type OnRefused<T> = (value: T, error: PermanentError) => void | Promise<void>

/**
 * Publishes values together. If Kafka refuses one for good, publishes each by itself, so that its neighbours
 * do not wait for it. Resolves to the refused values.
 */
export async function publishEach<T>(
  publish: Publish<T>,
  values: readonly T[],
  onRefused: OnRefused<T>,
): Promise<T[]> {
  if (values.length === 0) return []
  try {
    await publish(values)
    return []
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    const refused: T[] = []
    for (const value of values) if (!(await publishOne(publish, value, onRefused))) refused.push(value)
    return refused
  }
}

/** Resolves to whether Kafka has the value; false if it refuses it for good. */
export async function publishOne<T>(
  publish: Publish<T>,
  value: T,
  onRefused: OnRefused<T>,
): Promise<boolean> {
  try {
    await publish([value])
    return true
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    await onRefused(value, error)
    return false
  }
}

/** Encoded and sent at a time: large bodies must not double in memory or fill the producer's buffer. */
const sliceBytes = 8 * 1024 * 1024

async function send<T>(
  { producer, topic, encoder }: Publisher<T>,
  values: readonly T[],
  keyOf: (value: T) => string,
  traces?: Traces,
): Promise<void> {
  let slice: OutgoingRecord[] = []
  let bytes = 0
  for (const [index, value] of values.entries()) {
    const encoded = await encoder.encode(value)
    slice.push({ topic, key: keyOf(value), value: encoded, trace: traces?.[index] })
    bytes += encoded.length
    if (bytes < sliceBytes) continue
    await producer.send(slice)
    slice = []
    bytes = 0
  }
  if (slice.length > 0) await producer.send(slice)
}

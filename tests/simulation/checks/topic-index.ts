import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import { topics, type SchemaName } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { TopicPartition, StoredMessage } from '../world/stored-message.ts'
import { readValue } from '../world/sim-codec.ts'

const schemaOf = new Map<string, SchemaName>(Object.values(topics).map(({ name, schema }) => [name, schema]))

/** Contents of topics, as far as the invariants need them. */
export class TopicIndex {
  /**
   * Requests with a job, with a job in the lane of large calls, with all scores; events; deliveries by
   * `topic/delivery/attempt`.
   */
  readonly jobs = new Set<string>()
  /** Number of hand-overs: one per attempt. */
  readonly handedOver = new Map<string, number>()
  readonly scored = new Map<string, ScoredCall>()
  readonly events = new Map<string, RaisedEvent>()
  readonly deliveries = new Set<string>()
  readonly calls = new Map<string, LoggedCall>()
  /** `topic/partition@offset` of every copy of a call. */
  readonly #copies = new Map<string, string[]>()
  /** `topic/partition@offset` of dead-lettered records, with the code. */
  readonly letters = new Map<string, string>()

  add({ topic, partition }: TopicPartition, message: StoredMessage): void {
    if (topic.endsWith('.dlq')) {
      const text = (name: string) => message.headers[`sluice-dlq-${name}`]?.toString() ?? ''
      this.letters.set(`${text('topic')}/${text('partition')}@${text('offset')}`, text('code'))
      return
    }
    const value = this.read(topic, message)
    if (value === null) return
    if (topic === topics.requestLogged.name || topic === topics.requestEphemeral.name) {
      const call = value as LoggedCall
      this.calls.set(call.id, call)
      const name = `${topic}/${partition}@${message.offset}`
      this.#copies.set(call.id, [...(this.#copies.get(call.id) ?? []), name])
    } else if (topic === topics.scoreJobs.name || topic === topics.scoreJobsEphemeral.name)
      this.jobs.add((value as ScoreJob).request_id)
    else if (topic === topics.scoreJobsLarge.name || topic === topics.scoreJobsLargeEphemeral.name) {
      const { request_id: id } = value as ScoreJob
      this.handedOver.set(id, (this.handedOver.get(id) ?? 0) + 1)
    } else if (topic === topics.scoreRecorded.name) {
      const scored = value as ScoredCall
      this.scored.set(scored.request_id, scored)
    } else if (topic === topics.eventRaised.name) {
      const event = value as RaisedEvent
      this.events.set(event.id, event)
    } else {
      const { delivery_id: id, attempt } = value as WebhookDelivery
      this.deliveries.add(`${topic}/${id}/${attempt}`)
    }
  }

  /**
   * Whether a copy of the call was blamed for deaths of processes: it may be stored already, without a job.
   */
  isBlamed({ id }: LoggedCall): boolean {
    return this.#copies.get(id)?.some((name) => this.letters.get(name) === 'CRASHED') === true
  }

  read(topic: string, { value }: StoredMessage): unknown {
    const schema = schemaOf.get(topic)
    return schema === undefined || value === null ? null : readValue(schema, value)
  }
}

import type { RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import type { ScoredCall } from '#schemas/safety-score-recorded.ts'
import { topics } from '#schemas/topics.ts'
import { deliveryId, type WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { planNext } from '#services/notifier/steps/plan-next.ts'
import type { Webhook } from '#services/notifier/stores/webhook-rows.ts'
import type { Database } from '../tables/database.ts'
import type { Cluster } from '../world/cluster.ts'
import type { TopicPartition } from '../world/stored-message.ts'
import type { TopicIndex } from './topic-index.ts'

/** What the record still needs; undefined: its offset may be committed. */
type WhatIsMissing = (
  value: unknown,
  index: TopicIndex,
  database: Database,
  place: TopicPartition,
) => string | undefined

/** By group: a record below the committed offset must have had its whole effect. */
const whatIsMissing: Readonly<Record<string, WhatIsMissing>> = {
  'sink-calls'(value, index, { calls }, { topic }) {
    const call = value as LoggedCall
    if (!calls.has(`${idToUuid(call.project_id)}/${idToUuid(call.id)}`)) return 'its row'
    const makesJob = topic === topics.requestEphemeral.name || !call.zero_content_retention
    return makesJob && !index.jobs.has(call.id) && !index.isBlamed(call) ? 'its job' : undefined
  },
  scorer(value, { scored, handedOver }) {
    const { request_id: id } = value as ScoreJob
    return scored.has(id) || handedOver.has(id) ? undefined : 'its scores'
  },
  // A call that took too long is done once it has been queued again.
  'scorer-large'(value, { scored, handedOver }) {
    const { request_id: id } = value as ScoreJob
    return scored.has(id) || (handedOver.get(id) ?? 0) > 1 ? undefined : 'its scores'
  },
  'sink-scores'(value, _index, { scores }) {
    const call = value as ScoredCall
    const isStored = ({ id }: { id: string }) => scores.has(`${idToUuid(call.project_id)}/${idToUuid(id)}`)
    return call.scores.every(isStored) ? undefined : 'a score'
  },
  'notifier-fan-out'(value, index, database) {
    const event = value as RaisedEvent
    for (const webhook of database.webhooks.filter((one) => wants(one, event))) {
      const id = deliveryId(event, webhook.id)
      const delivery = database.deliveries.get(id)?.delivery
      if (delivery === undefined) return `the delivery to ${webhook.url}`
      if (index.deliveries.has(`${topics.deliveryDue.name}/${id}/1`)) continue
      const missing = attemptMissing(delivery, index, database)
      if (missing !== undefined) return `${missing}, or what is due at ${webhook.url}`
    }
    return undefined
  },
  'notifier-due': attemptMissing,
  'notifier-retry': attemptMissing,
}

/** Like select-webhooks.ts for the simulation's webhooks, whose filters pass all events of their project. */
export function wants(webhook: Webhook, { event, project_id: projectId }: RaisedEvent): boolean {
  const name = event === 'new_tool_detected' ? 'usage_alert' : event
  return webhook.projectId === projectId && webhook.events.includes(name)
}

function attemptMissing(
  value: unknown,
  index: TopicIndex,
  { deliveries, waiting }: Database,
): string | undefined {
  const delivery = value as WebhookDelivery
  const row = deliveries.get(delivery.delivery_id)
  if (row === undefined) return 'its row'
  if (row.status === 'delivered' || row.attemptCount > delivery.attempt) return undefined
  if ((waiting.get(delivery.delivery_id)?.delivery.attempt ?? 0) >= delivery.attempt) return undefined
  const finished = row.attempts.get(delivery.attempt)?.finished
  if (finished?.error == null) return 'its attempt'
  const { error, finishedAtMs: failedAtMs, isLast } = finished
  const next = planNext(delivery, { error, failedAtMs, isLast })
  if ('waitMs' in next) return 'the wait after its failure'
  const name = `${topics[next.topic].name}/${delivery.delivery_id}/${next.delivery.attempt}`
  return index.deliveries.has(name) ? undefined : 'what follows its failure'
}

/** Checks every commit: an offset never passes a record that is neither finished nor dead-lettered. */
export function watchOffsets(
  cluster: Cluster,
  database: Database,
  index: TopicIndex,
  fail: (what: string) => void,
): void {
  cluster.watch = {
    written: (place, message) => index.add(place, message),
    committed(groupId, place, from, to) {
      if (to < from) fail(`${groupId} went back from ${from} to ${to} in ${place.topic}/${place.partition}`)
      for (const message of cluster.log(place).slice(Number(from), Number(to))) {
        const name = `${place.topic}/${place.partition}@${message.offset}`
        if (index.letters.has(name)) continue
        const value = index.read(place.topic, message)
        const missing =
          value === null ? 'its dead letter' : whatIsMissing[groupId]?.(value, index, database, place)
        if (missing !== undefined) fail(`${groupId} passed ${name} without ${missing}`)
      }
    },
  }
}

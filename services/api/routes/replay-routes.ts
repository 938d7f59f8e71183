import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'
import type { Encoder, Producer } from '#runtime/kafka/records.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { idField, timeField } from '#http/fields.ts'
import { Problem, unavailable, found } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { readReplayCursor, writeReplayCursor } from '../http/replay-cursor.ts'
import { refuseEndBeforeStart } from '../http/time-range.ts'
import { noteReplays, planFailedReplays, planReplays } from '../stores/delivery-replay.ts'
import type { OneProject, ProjectDatabase, ProjectDatabases } from '../stores/project-database.ts'
import { findReceiver } from '../stores/webhook-store.ts'
import { projectQuery, webhookParams } from './webhook-routes.ts'

export interface ReplayRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
  producer: Producer
  due: { name: string; encoder: Encoder<WebhookDelivery> }
}

/** Replays of deliveries: one, selected ones, or those that failed in a time range. */
export function replayRoutes(options: ReplayRoutesOptions): Route[] {
  return [replayFailedRoute(options), replayChosenRoute(options), replayRoute(options)]
}

const common = {
  access: 'all',
  tag: 'Webhooks',
  method: 'post',
  query: projectQuery,
  params: webhookParams,
} as const
const onTheirWay = 'They are on their way.'
const ofWebhook = { 404: 'There is no such webhook.', 409: 'The webhook is disabled.' }
const maxReplayed = 500

function replayRoute(options: ReplayRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/v1/webhooks/{id}/deliveries/{delivery_id}/replay',
    summary: 'Replay a delivery: a new round of up to four attempts with the same event.',
    params: webhookParams.extend({ delivery_id: idField('delivery') }),
    reply: { status: 202, description: 'It is queued.', schema: z.object({ delivery_id: z.string() }) },
    problems: {
      404: 'There is no such delivery.',
      409: 'It is still under way: made or attempted within the last hour, or waiting for its endpoint. Or the webhook is disabled.',
    },
    async handle({ principal, params: { id, delivery_id }, query }) {
      const database = options.databases.ofOne(principal, query.project_id)
      await refuseDisabled(database, id)
      const { rounds, underWay } = await planReplays(database, id, [delivery_id], options.clock.now())
      const status = underWay.get(delivery_id)
      if (status !== undefined) {
        throw new Problem(
          409,
          'DELIVERY_UNDER_WAY',
          `delivery ${delivery_id} is ${status}; its attempts go on`,
        )
      }
      await replay([found(rounds[0], 'delivery', delivery_id)], database, options)
      return { status: 202, json: { delivery_id } }
    },
  })
}

const skippedSchema = z.array(
  z.object({
    delivery_id: z.string(),
    reason: z
      .enum(['under_way', 'unknown'])
      .describe('Its attempts are in progress, or the webhook has no such delivery.'),
  }),
)

function replayChosenRoute(options: ReplayRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/v1/webhooks/{id}/deliveries/replay-chosen',
    summary: `Replay selected deliveries, oldest first, at most ${maxReplayed}, whether they failed or not.`,
    body: z.strictObject({ delivery_ids: z.array(idField('delivery')).min(1).max(maxReplayed) }),
    reply: {
      status: 202,
      description: onTheirWay,
      schema: z.object({ replayed: z.number().int(), skipped: skippedSchema }),
    },
    problems: ofWebhook,
    async handle({ principal, params: { id }, query, body }) {
      const database = options.databases.ofOne(principal, query.project_id)
      await refuseDisabled(database, id)
      const chosen = [...new Set(body.delivery_ids)]
      const { rounds, underWay } = await planReplays(database, id, chosen, options.clock.now())
      await replay(rounds, database, options)
      const replayed = new Set(rounds.map((round) => round.delivery_id))
      const skipped = chosen
        .filter((delivery_id) => !replayed.has(delivery_id))
        .map((delivery_id) => ({
          delivery_id,
          reason: underWay.has(delivery_id) ? ('under_way' as const) : ('unknown' as const),
        }))
      return { status: 202, json: { replayed: rounds.length, skipped } }
    },
  })
}

function replayFailedRoute(options: ReplayRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/v1/webhooks/{id}/deliveries/replay',
    summary: `Replay the failed and abandoned deliveries of a time range, oldest first, at most ${maxReplayed}. Repeat with next_cursor until it is null. Abandoned: not ended and not attempted for an hour.`,
    body: z.strictObject({
      start: timeField.describe('Start of the range of creation times.'),
      end: timeField.describe('End of the range, exclusive.'),
      cursor: z
        .string()
        .max(200)
        .optional()
        .describe(
          '`next_cursor` of the answer before: what fails again meanwhile is not delivered once more.',
        ),
    }),
    reply: {
      status: 202,
      description: onTheirWay,
      schema: z.object({
        replayed: z
          .number()
          .int()
          .describe('May be 0 with a `next_cursor`: an answer looks at a part of a long log.'),
        has_more: z.boolean(),
        next_cursor: z.string().nullable().describe('Null: the range has been gone through.'),
      }),
    },
    problems: ofWebhook,
    async handle({ principal, params: { id }, query, body }) {
      refuseEndBeforeStart(body)
      const after = body.cursor === undefined ? null : readReplayCursor(body.cursor)
      const database = options.databases.ofOne(principal, query.project_id)
      await refuseDisabled(database, id)
      const range = { startMs: body.start, endMs: body.end, after, limit: maxReplayed }
      const { rounds, next } = await planFailedReplays(database, id, range, options.clock.now())
      await replay(rounds, database, options)
      const next_cursor = next === null ? null : writeReplayCursor(next)
      return { status: 202, json: { replayed: rounds.length, has_more: next !== null, next_cursor } }
    },
  })
}

/** Each round would fail at once, and a client that repeats until nothing failed would never end. */
async function refuseDisabled(database: ProjectDatabase<OneProject>, webhookId: string): Promise<void> {
  const { enabled } = found(await findReceiver(database, webhookId), 'webhook', webhookId)
  if (!enabled)
    throw new Problem(409, 'WEBHOOK_DISABLED', `webhook ${webhookId} is disabled; enable it first`)
}

async function replay(
  rounds: readonly WebhookDelivery[],
  database: ProjectDatabase<OneProject>,
  { clock, producer, due }: ReplayRoutesOptions,
): Promise<void> {
  const [first] = rounds
  if (first === undefined) return
  const detail = { count: rounds.length }
  const entry = { action: 'webhook.deliveries_replayed', subject: first.webhook_id, detail }
  await database.note(entry, clock.now())
  await queue(rounds, producer, due)
  // After they are queued: a crash before would show rounds that are never made.
  await noteReplays(database, rounds)
}

async function queue(
  rounds: readonly WebhookDelivery[],
  producer: Producer,
  due: ReplayRoutesOptions['due'],
): Promise<void> {
  try {
    const records = rounds.map(async (round) => {
      const value = await due.encoder.encode(round)
      return { topic: due.name, key: round.webhook_id, value }
    })
    await producer.send(await Promise.all(records))
  } catch (error) {
    if (!(error instanceof SluiceError) || error.retry === 'never') throw error
    throw unavailable('QUEUE_UNAVAILABLE', 'deliveries cannot be queued at the moment', error)
  }
}

import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { idField, textField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { limitField, listForm, listOf, pageFields, readPaging } from '../http/paging.ts'
import { reportSources } from '../http/source-filter.ts'
import { rangeFields, readRange } from '../http/time-range.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { listUsers, userOrders, type UserOrder } from '../stores/user-store.ts'

const userDays = 30
const orders = Object.keys(userOrders) as [UserOrder, ...UserOrder[]]

const count = z.number()
const userSchema = z.object({
  user_id: z.string(),
  last_seen_at: z.iso.datetime(),
  calls: count,
  failed: count.describe('With an error, or a status of 400 and more.'),
  unsafe: count.describe('By their worst label.'),
  tokens: count.describe('All four kinds together.'),
  priced: count.describe('Calls with a known cost.'),
  cost_usd: count,
  sessions: z.number().int(),
  sessions_are_exact: z.boolean().describe('False: only those of the last 200 calls.'),
})

interface UserRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

/** Whom the calls were made for. */
export function userRoutes({ databases, clock }: UserRoutesOptions): Route[] {
  return [
    route({
      access: 'read',
      tag: 'Reports',
      method: 'get',
      path: '/api/users',
      summary: 'End users, as `user_id` of calls names them. Without start: the last 30 days.',
      query: z.strictObject({
        ...pageFields,
        ...limitField,
        project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
        ...rangeFields,
        user_id: textField(256).optional(),
        order: z.enum(orders).default('cost').describe('The largest or latest first.'),
        ...reportSources.fields,
      }),
      polled: true,
      reply: {
        status: 200,
        description: 'Users with counted calls: at most 1,000 an hour.',
        schema: listOf(userSchema),
      },
      async handle({ principal, query }) {
        const paging = readPaging(query, 'request')
        const { user_id, order } = query
        const filters = {
          ...readRange(query, clock.now(), userDays),
          ...reportSources.read(query),
          user_id,
          order,
        }
        const database = databases.ofOne(principal, query.project_id)
        const { items, total } = await listUsers(database, filters, paging)
        return taggedJson(listForm(paging, items, total))
      },
    }),
  ]
}

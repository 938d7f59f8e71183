import type { Pool } from 'pg'
import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { newId } from '#schemas/ids.ts'
import { idField, textField } from '#http/fields.ts'
import { notFound, Problem } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { listForm, readPaging } from '../http/paging.ts'
import { personOf } from '../people/authenticate-people.ts'
import { deleteView, listViews, maxSavedViews, saveView } from '../stores/saved-view-store.ts'

const viewSchema = z.object({
  id: z.string(),
  name: z.string(),
  query: z.string(),
  created_at: z.iso.datetime(),
})

// Only the dashboard, which holds the operator's secret, acts for users.
const common = { access: 'operator', tag: 'Oneself' } as const

/** Views that a signed-in user has saved: named filters of the list of requests. */
export function savedViewRoutes({ pool, clock }: { pool: Pool; clock: Clock }): Route[] {
  return [
    route({
      ...common,
      method: 'get',
      path: '/api/me/views',
      summary: 'Your saved views, by name.',
      reply: {
        status: 200,
        description: `The views, at most ${maxSavedViews}, on one page.`,
        schema: z.object({
          items: z.array(viewSchema),
          total: z.number().int(),
          page: z.number().int(),
          page_size: z.number().int(),
          next_cursor: z.null(),
        }),
      },
      async handle({ principal }) {
        const items = await listViews(pool, personOf(principal).personId)
        return { json: listForm(readPaging({}, 'savedView'), items, items.length) }
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/api/me/views',
      summary: 'Save a view, in place of yours with the same name.',
      body: z.strictObject({
        name: textField(80),
        query: z.string().max(4_000).describe('As in the address of the list of requests.'),
      }),
      reply: { status: 201, description: 'The view.', schema: viewSchema },
      problems: { 409: `You have ${maxSavedViews} views.` },
      async handle({ principal, body }) {
        const nowMs = clock.now()
        const view = { ...body, id: newId('savedView', nowMs) }
        const saved = await saveView(pool, personOf(principal).personId, view, nowMs)
        if (saved === undefined)
          throw new Problem(409, 'VIEWS_TOO_MANY', `you have ${maxSavedViews} saved views: delete some`)
        return { status: 201, json: saved }
      },
    }),
    route({
      ...common,
      method: 'delete',
      path: '/api/me/views/{id}',
      summary: 'Delete one of your saved views.',
      params: z.object({ id: idField('savedView') }),
      reply: { status: 204, description: 'It is deleted.' },
      problems: { 404: 'You have no such view.' },
      async handle({ principal, params: { id } }) {
        if (!(await deleteView(pool, personOf(principal).personId, id))) throw notFound('view', id)
        return {}
      },
    }),
  ]
}

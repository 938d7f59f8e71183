import { z } from 'zod'

const count = z.number().int()

/** The recent deliveries of a webhook. */
export const webhookHealthFields = {
  last_result: z
    .object({
      status: z.enum(['retrying', 'delivered', 'failed']),
      at: z.iso.datetime(),
      status_code: count.nullable(),
      error: z.string().nullable(),
    })
    .nullable()
    .describe('The last attempt of the newest attempted delivery; null: none.'),
  last_day: z
    .object({ deliveries: count, failed: count, failure_share: z.number().nullable() })
    .describe(
      'Among the newest 1,000 attempted deliveries of the last 24 hours; `failed`: finally or so far.',
    ),
}

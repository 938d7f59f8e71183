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
    .describe('Of the newest delivery that was attempted, its last attempt; null: there is none.'),
  last_day: z
    .object({ deliveries: count, failed: count, failure_share: z.number().nullable() })
    .describe(
      'Of the newest 1,000 deliveries of the last 24 hours that were attempted; `failed`: in the end or so far.',
    ),
}

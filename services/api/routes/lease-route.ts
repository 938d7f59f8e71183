import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { idField } from '#http/fields.ts'
import { invalidInput, Problem } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { dollarsOf } from '#schemas/picodollars.ts'
import { leaseMs } from '../budgets/lease-book.ts'
import type { LeaseStore } from '../stores/lease-store.ts'

/** Larger than any sum of calls, and within numeric(30). */
const amount = z
  .string()
  .regex(/^\d{1,27}$/, 'must be a whole number of picodollars, in decimal')
  .transform((digits) => BigInt(digits))
const shown = z.string().describe('Picodollars, in decimal.')
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

const bodySchema = z.strictObject({
  key_id: idField('key'),
  lease_id: z.uuid().describe('Chosen by the gateway process, for one key and month.'),
  sequence: count.describe('Higher in each report of the lease: a report that comes twice changes nothing.'),
  month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])-01$/, 'must be the first day of a month, like 2026-11-01'),
  spent: amount.describe('Picodollars that its calls of the month have cost so far.'),
  under_way: amount.describe('Estimates of its calls that have not ended.'),
  held: amount.describe('What it keeps of what it was granted; the rest comes back.'),
  minimum: amount.describe('What it needs at least; less is not granted.'),
  wanted: amount.describe('What it would like beside what it holds.'),
  waiting: amount.describe('Estimates of calls that wait for the answer, and begin with it.'),
  refused: count.describe('Calls of the month that it refused for their cost.'),
})

const replySchema = z.object({
  granted: shown.describe('What it may spend in the month, with what it has spent. Picodollars.'),
  spent: shown,
  reserved: shown,
  available: shown,
  budget_usd: z.number(),
  spent_usd: z.number(),
  expires_in_ms: z
    .number()
    .int()
    .describe('When the lease ends unless it is reported again, from when the report was sent.'),
})

const dayMs = 86_400_000

/** Where gateways reserve slices of a key's budget, and settle them. */
export function leaseRoute({ leases, clock }: { leases: LeaseStore; clock: Clock }): Route {
  return route({
    access: 'operator',
    tag: 'API keys',
    method: 'post',
    path: '/internal/keys/lease',
    summary: "Report what a gateway process has spent of a key's monthly budget, and reserve more of it.",
    body: bodySchema,
    reply: { status: 200, description: 'The lease, and what is left.', schema: replySchema },
    problems: { 404: 'There is no such key in force, or it has no budget.' },
    handle: async ({ body }) => {
      const { key_id: keyId, lease_id: id, under_way: underWay, month, sequence, refused, ...amounts } = body
      const nowMs = clock.now()
      // A clock that is wrong by a day reserves nothing of another month.
      if (Date.parse(month) > nowMs + dayMs)
        throw invalidInput([{ path: 'month', message: 'must not be a month to come' }])
      const report = { ...amounts, id, underWay, sequence: BigInt(sequence), refused: BigInt(refused) }
      const answer = await leases.report(keyId, month, report, nowMs)
      if (answer === undefined)
        throw new Problem(404, 'KEY_WITHOUT_BUDGET', `no key in force with a budget is ${keyId}`)
      const { lease, balance, budgetUsd } = answer
      return {
        json: {
          granted: String(lease.granted),
          spent: String(balance.spent),
          reserved: String(balance.reserved),
          available: String(balance.available),
          budget_usd: budgetUsd,
          spent_usd: dollarsOf(balance.spent),
          expires_in_ms: leaseMs,
        },
      }
    },
  })
}

import { request, type Dispatcher } from 'undici'
import { z } from 'zod'
import { picodollarsOf } from '#schemas/picodollars.ts'
import type { Grant, Report } from './key-lease.ts'

const amount = z.string().transform((digits) => BigInt(digits))
const answerSchema = z.object({
  granted: amount,
  spent: amount,
  budget_usd: z.number(),
  expires_in_ms: z.number(),
})
/** Calls wait for this request. */
const timeoutMs = 2_000

export interface LeasedMonth {
  keyId: string
  leaseId: string
  month: string
}

/** Calls `POST /internal/keys/lease`. `none`: the key has no budget any more, or is revoked. */
export type ReportLease = (of: LeasedMonth, report: Report, sequence: number) => Promise<Grant | 'none'>

export function reportToApi(url: string, internalSecret: string, dispatcher: Dispatcher): ReportLease {
  return async ({ keyId, leaseId, month }, report, sequence) => {
    const { statusCode, body } = await request(`${url}/internal/keys/lease`, {
      dispatcher,
      method: 'POST',
      signal: AbortSignal.timeout(timeoutMs),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${internalSecret}` },
      body: JSON.stringify({
        ...{ key_id: keyId, lease_id: leaseId, month, sequence },
        spent: String(report.spent),
        under_way: String(report.underWay),
        held: String(report.held),
        minimum: String(report.minimum),
        wanted: String(report.wanted),
        waiting: String(report.waiting),
        refused: report.refused,
      }),
    })
    const text = await body.text()
    if (statusCode === 404 && text.includes('"KEY_WITHOUT_BUDGET"')) return 'none'
    if (statusCode !== 200) throw new Error(`the API service answered ${statusCode} about a lease`)
    const answer = answerSchema.parse(JSON.parse(text))
    const { granted, spent, budget_usd: budgetUsd, expires_in_ms: expiresInMs } = answer
    return { granted, spent, budgetUsd, budget: picodollarsOf(budgetUsd), expiresInMs }
  }
}

import { parseJson } from '#capture/json.ts'
import type { PriceTable } from '#capture/price-table.ts'
import { describeRecord, readCall } from '#capture/record/describe-record.ts'
import { recordSchema } from '#capture/record/record-schema.ts'

/** What a record will say that its call cost, in US dollars; null where it will not. */
export function costOfRecord(record: Buffer, prices: PriceTable): number | null {
  const parsed = recordSchema.safeParse(parseJson(record.toString('utf8')))
  if (!parsed.success) return null
  const project = { projectId: '', zeroContentRetention: false }
  return describeRecord(readCall(parsed.data), project, 'enterprise', prices).cost_usd
}

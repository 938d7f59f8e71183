import { readFileSync } from 'node:fs'
import { costOfCall, countsOf } from '#capture/call-cost.ts'
import { describeCall } from '#capture/describe-call.ts'
import { createPriceTable, type Price } from '#capture/price-table.ts'

const list = JSON.parse(readFileSync('infra/prices.json', 'utf8')) as { prices: Price[] }
const prices = createPriceTable(list.prices)

interface Asked {
  request?: object
  /** Absent: derived from the answer. */
  provider?: string
}

/** Cost of a call by its answer and infra/prices.json. */
export function listCostOf(responseBody: unknown, { request = {}, provider }: Asked = {}): number | null {
  const described = describeCall({ requestBody: request, responseBody })
  const { model, provider: derived } = described
  const tokens = countsOf(described)
  return costOfCall({ model: model ?? '', provider: provider ?? derived, tokens, described }, prices)
}

/** Rounds away binary fractions. */
export function rounded(usd: number | null): number | null {
  return usd === null ? null : Number(usd.toFixed(11))
}

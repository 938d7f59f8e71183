import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPriceTable, type PriceTable } from '#capture/price-table.ts'
import { parsePrices } from '#capture/record/parse-prices.ts'
import type { GatewayConfig } from './config.ts'

const listFile = join(import.meta.dirname, '..', '..', 'infra', 'prices.json')

/** Sluice's price list, overridden by the operator's. Throws on an invalid one. */
export function readPrices({ PRICES_FILE: ownFile }: Pick<GatewayConfig, 'PRICES_FILE'>): PriceTable {
  const files = ownFile === undefined ? [listFile] : [listFile, ownFile]
  return createPriceTable(files.flatMap((file) => parsePrices(readFileSync(file, 'utf8'), file)))
}

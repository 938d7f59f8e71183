import { isMap, isSeq, LineCounter, parseDocument, type Node } from 'yaml'
import { z } from 'zod'
import type { Price } from '../price-table.ts'
import { tokenParts, type TokenPart } from '../token-cost.ts'
import { offsetAt } from './yaml-offset.ts'

/** A problem in a price list. `line` counts from 1. */
interface PriceProblem {
  line: number
  reason: string
}

const rate = z.number().min(0).max(1_000_000)
const rates = {
  input: rate,
  cached_input: rate.optional(),
  cache_write: rate.optional(),
  cache_write_1h: rate.optional(),
  output: rate,
  ...(Object.fromEntries(tokenParts.map((part) => [part, rate.optional()])) as Record<
    TokenPart,
    z.ZodOptional<typeof rate>
  >),
}
const name = z.string().min(1).max(64)
const times = z.number().min(0).max(1_000)
const lowerCase = (text: string) => text.toLowerCase()
const priceSchema = z.strictObject({
  provider: name.transform(lowerCase).optional(),
  models: z.array(z.string().min(1).max(256).transform(lowerCase)).min(1).max(1_000),
  ...rates,
  long: z.strictObject({ above: z.number().int().min(0), ...rates }).optional(),
  tiers: z
    .record(name.transform(lowerCase), z.union([times, z.strictObject({ times, cached_input: times })]))
    .optional(),
  inference_geo: z.record(name.transform(lowerCase), times).optional(),
  uses: z.record(name, z.union([rate, z.strictObject({ per_call: rate })])).optional(),
  call: rate.optional(),
  as_of: z.iso.date().optional(),
  written: z.iso.date().optional(),
})

/**
 * Reads a price list: JSON like infra/prices.json, or the same as YAML. Any bad entry rejects the whole list;
 * the Error names `file`, line and problem.
 */
export function parsePrices(text: string, file: string): readonly Price[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const lineOf = (offset: number | undefined) => lines.linePos(offset ?? 0).line
  if (document.errors.length > 0) {
    throw refusal(
      file,
      document.errors.map(({ pos, message }) => ({ line: lineOf(pos[0]), reason: message })),
    )
  }
  const list: unknown = isMap(document.contents) ? document.contents.get('prices', true) : undefined
  if (!isSeq<Node>(list)) {
    throw refusal(file, [
      { line: lineOf(document.contents?.range[0]), reason: 'expected an object with a list `prices`' },
    ])
  }
  const problems: PriceProblem[] = []
  const prices: Price[] = []
  for (const item of list.items) {
    const entry = priceSchema.safeParse(item.toJS(document))
    if (entry.success) prices.push(entry.data)
    else {
      problems.push(
        ...entry.error.issues.map(({ path, message }) => ({
          line: lineOf(offsetAt(item, path)),
          reason: path.length === 0 ? message : `${path.join('.')}: ${message}`,
        })),
      )
    }
  }
  if (problems.length > 0) throw refusal(file, problems)
  return prices
}

function refusal(file: string, problems: readonly PriceProblem[]): Error {
  return new Error(problems.map(({ line, reason }) => `${file}:${line}: ${reason}`).join('\n'))
}

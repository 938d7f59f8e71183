import type { Conditions } from './conditions.ts'

interface Compared {
  operator: 'not' | 'contains' | 'prefix' | 'gt' | 'lt'
  value: string | number
}
/** The column's name is from a fixed list. */
export type ColumnComparison = Compared & { column: string }
/** A condition on requests other than equality. */
export type Comparison = ColumnComparison | (Compared & { metadataKey: string })

/** Adds a comparison with a column or a metadata value of the request `r`. */
export function compare(conditions: Conditions, comparison: Comparison): void {
  const { operator, value } = comparison
  const ofMetadata = 'metadataKey' in comparison
  const text = ofMetadata
    ? `(r.metadata ->> ${conditions.bind(comparison.metadataKey)}::text)`
    : `r.${comparison.column}`
  // Clients send numbers also as texts.
  const number = ofMetadata
    ? `(case when ${text} ~ '^-?[0-9]{1,15}(\\.[0-9]{1,12})?$' then ${text}::double precision end)`
    : text
  const bound = conditions.bind(value)
  const texts = {
    not: `${text} is distinct from ${bound}`,
    contains: `position(lower(${bound}::text) in lower(${text})) > 0`,
    prefix: `starts_with(${text}, ${bound}::text)`,
    gt: `${number} > ${bound}::double precision`,
    lt: `${number} < ${bound}::double precision`,
  }
  conditions.add(texts[operator])
}

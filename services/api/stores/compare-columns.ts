import type { Conditions } from './conditions.ts'

/** A condition on a column of requests other than equality. */
export interface Comparison {
  column: string
  operator: 'not' | 'contains' | 'prefix' | 'gt' | 'lt'
  value: string | number
}

/** Adds a comparison with a column of the request `r`, whose name is from a fixed list. */
export function compare(conditions: Conditions, { column, operator, value }: Comparison): void {
  const bound = conditions.bind(value)
  const texts = {
    not: `r.${column} is distinct from ${bound}`,
    contains: `position(lower(${bound}::text) in lower(r.${column})) > 0`,
    prefix: `starts_with(r.${column}, ${bound}::text)`,
    gt: `r.${column} > ${bound}::double precision`,
    lt: `r.${column} < ${bound}::double precision`,
  }
  conditions.add(texts[operator])
}

import type { SearchTexts } from '../../formats/search-texts.ts'
import { isFilter } from './filter-language.ts'

/** Parameters of the page that are no filters. */
const others: ReadonlySet<string> = new Set(['project', 'range', 'start', 'end'])

/** The filters in the address, and the parameters that nothing here knows. */
export function readAddress(texts: SearchTexts): { filters: Record<string, string>; unknown: string[] } {
  const given = Object.entries(texts).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '' && !others.has(pair[0]),
  )
  return {
    filters: Object.fromEntries(given.filter(([name]) => isFilter(name))),
    unknown: given.flatMap(([name]) => (isFilter(name) ? [] : [name])),
  }
}

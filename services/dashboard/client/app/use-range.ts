import { readRange, type ChosenRange, type Preset } from '../formats/time-range.ts'
import { useTexts } from './address.ts'

/** The time range of a page, from the address. */
export function useRange(fallback: Preset): ChosenRange {
  return readRange(useTexts(), fallback, Date.now())
}

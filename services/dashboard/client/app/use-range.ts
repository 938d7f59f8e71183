import { useState } from 'react'
import { readRange, type ChosenRange, type Preset } from '../formats/time-range.ts'
import { useTexts } from './address.ts'

/** The time range of a page, from the address. */
export function useRange(fallback: Preset): ChosenRange {
  return readRange(useTexts(), fallback, Date.now())
}

/**
 * The same for as long as the address stays, or until it is renewed: for lists, which by a range that has moved on would begin at their first page
 * again while somebody reads the tenth.
 */
export function useSteadyRange(fallback: Preset): { range: ChosenRange; renew: () => void } {
  const texts = useTexts()
  const address = JSON.stringify(texts)
  const [read, setRead] = useState({ address, nowMs: Date.now() })
  if (read.address !== address) setRead({ address, nowMs: Date.now() })
  return {
    range: readRange(texts, fallback, read.nowMs),
    renew: () => setRead({ address, nowMs: Date.now() }),
  }
}

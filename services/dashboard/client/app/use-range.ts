import { useState } from 'react'
import { readRange, type ChosenRange, type Preset } from '../formats/time-range.ts'
import { useTexts } from './address.ts'

/** The page's time range, from the address. */
export function useRange(fallback: Preset): ChosenRange {
  return readRange(useTexts(), fallback, Date.now())
}

/**
 * A range that stays fixed until the address changes or it is renewed. A list whose range moved on would
 * restart at its first page while somebody reads the tenth.
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

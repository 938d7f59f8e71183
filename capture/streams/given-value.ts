import { parseJson } from '../json.ts'
import { isDeeperThan } from '../record/scan-json.ts'

/** Ingest accepts 200 levels, and this is nested within three. */
const maxGivenDepth = 190

/** Parses a tool's arguments; returns the text if it is incomplete or nested too deep for a record. */
export function givenValue(text: string): unknown {
  return isDeeperThan(maxGivenDepth, text) ? text : (parseJson(text) ?? text)
}

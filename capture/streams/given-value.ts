import { parseJson } from '../json.ts'
import { isDeeperThan } from '../record/scan-json.ts'

/** Ingest takes bodies of 200 levels, three of them around this. */
const maxGivenDepth = 190

/** What a tool is given as the value that it is; as its text when it was cut off, or is nested deeper than a record may be. */
export function givenValue(text: string): unknown {
  return isDeeperThan(maxGivenDepth, text) ? text : (parseJson(text) ?? text)
}

import { fieldAt } from '#capture/json.ts'
import { scanElements, scanMembers } from '#capture/record/scan-json.ts'
import { parseJson } from '#http/parse-json.ts'
import { invalidInput, type Problem } from '#http/problem.ts'

export const maxRecords = 1_000
/** Only `records` is used; without a limit a million members would be parsed one by one. */
const maxMembers = 100
const openBracket = 0x5b
const placeholder = Buffer.from('0')

/**
 * The records of a batch, as bytes: parsed whole, 33 kB of gzip would take a gigabyte. The rest of the batch
 * is parsed here, so together with its records all of it is. Throws 400 and 422.
 */
export function splitBatch(body: Buffer): Buffer[] {
  const records = findRecords(body)
  if (records.length > maxRecords) throw wrongCount()
  const around = parseJson(withoutRecords(body, records))
  const values = fieldAt(around, 'records')
  if (!Array.isArray(values))
    throw invalidInput([{ path: 'records', message: 'must be an array of records' }])
  if (values.length === 0) throw wrongCount()
  if (values.length !== records.length)
    throw invalidInput([{ path: '', message: `must have at most ${maxMembers} members` }])
  return records
}

/** Input that is not JSON gives some records or none; parsing the rest then reports it. */
function findRecords(body: Buffer): Buffer[] {
  try {
    const list = scanMembers(body, maxMembers).get('records')?.bytes
    return list?.[0] === openBracket ? scanElements(list, maxRecords) : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

function withoutRecords(body: Buffer, records: readonly Buffer[]): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  for (const record of records) {
    const start = record.byteOffset - body.byteOffset
    pieces.push(body.subarray(at, start), placeholder)
    at = start + record.length
  }
  return Buffer.concat([...pieces, body.subarray(at)])
}

function wrongCount(): Problem {
  return invalidInput([
    { path: 'records', message: `must hold 1 to ${maxRecords.toLocaleString('en')} records` },
  ])
}

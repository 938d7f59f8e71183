import { isUtf8 } from 'node:buffer'
import { hasManyParts, maxParts } from '#capture/json.ts'
import { invalidInput, Problem } from './problem.ts'

/**
 * JSON from bytes. Throws 400 unless it is UTF-8 and JSON, and 422 for a value that takes many times its
 * bytes.
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Problem(400, 'NOT_UTF8', 'the body is not valid UTF-8')
  const text = bytes.toString('utf8')
  if (hasManyParts(text)) {
    const most = maxParts.toLocaleString('en')
    throw invalidInput([
      { path: '', message: `must hold at most ${most} objects, arrays and strings, names included` },
    ])
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    // The parser's message quotes the input, which may be confidential.
    throw new Problem(400, 'NOT_JSON', 'the body is not valid JSON', { cause: error })
  }
}

import { isUtf8 } from 'node:buffer'
import { Problem } from './problem.ts'

/** JSON from bytes; `undefined` for no bytes. Throws 400 for what is not UTF-8 or not JSON. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Problem(400, 'NOT_UTF8', 'the body is not valid UTF-8')
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    // The parser's own message quotes the text around the fault, which people wrote: it is not passed on.
    throw new Problem(400, 'NOT_JSON', 'the body is not valid JSON', { cause: error })
  }
}

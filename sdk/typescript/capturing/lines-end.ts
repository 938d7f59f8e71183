import { fieldAt, parseJson } from '../../../capture/json.ts'

/** The last line of `/api/generate` has all tokens as numbers, some 6 bytes each. */
const maxLineLength = 2 ** 20
const mayBeLast = /"done"\s*:\s*true|"error"\s*:/

/**
 * Finds the last line of passing JSON lines. Ollama's client stops reading there, without closing the answer.
 * Returns whether a chunk completes that line.
 */
export function createLinesEnd(): (chunk: Uint8Array) => boolean {
  /** What came of a line without its end. */
  let begun = ''
  return (chunk) => {
    // One character per byte, as characters may be split; what is looked for is ASCII.
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    const isEnd = text.endsWith('\n')
    const lines = isEnd ? text.trimEnd() : text
    const lineAt = lines.lastIndexOf('\n') + 1
    const line = lineAt > 0 ? lines.slice(lineAt) : begun + lines
    // A longer line is no JSON any more, and so not the last.
    begun = isEnd ? '' : line.slice(0, maxLineLength)
    return isEnd && mayBeLast.test(line) && isLast(parseJson(line))
  }
}

function isLast(line: unknown): boolean {
  return fieldAt(line, 'done') === true || Boolean(fieldAt(line, 'error'))
}

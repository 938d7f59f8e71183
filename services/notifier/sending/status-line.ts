/** Limit of a status line with the interim answers (1xx) before it, whose headers are skipped. */
const maxBytes = 65_536

/** Reads the status of an answer as its bytes come. */
export function createStatusReader() {
  let text = ''
  let status: number | undefined
  let isOver = false
  return {
    /** The status from the end of its line on; undefined before, and for what is not HTTP/1. */
    add(chunk: Buffer): number | undefined {
      if (isOver) return status
      status = text === '' ? readWhole(chunk) : undefined
      isOver = status !== undefined
      if (isOver) return status
      text += chunk.toString('latin1', 0, maxBytes)
      text = withoutInterim(text)
      const line = text.indexOf('\n')
      if (line >= 0) {
        const digits = /^HTTP\/1\.[01] ([2-9]\d\d)(?:[ \r]|$)/.exec(text.slice(0, line))?.[1]
        status = digits === undefined ? undefined : Number(digits)
      }
      const isInterim = /^HTTP\/1\.[01] 1/.test(text)
      isOver = text.length > maxBytes || (line >= 0 && !isInterim)
      if (isOver) text = ''
      return status
    },
  }
}

const [space, carriageReturn, newline] = [0x20, 0x0d, 0x0a]
const start = 'HTTP/1.1 '
const endings: readonly (number | undefined)[] = [space, carriageReturn, newline]

/** Nearly all answers begin with a complete status line: read without a string and two patterns. */
function readWhole(chunk: Buffer): number | undefined {
  const end = start.length + 3
  if (!endings.includes(chunk[end]) || chunk.toString('latin1', 0, start.length) !== start) return undefined
  const lineEnd = chunk.indexOf(newline, end)
  if (lineEnd < 0 || lineEnd >= maxBytes) return undefined
  const digits = chunk.toString('latin1', start.length, end)
  return /^[2-9]\d\d$/.test(digits) ? Number(digits) : undefined
}

/** What follows the complete interim answers. */
function withoutInterim(text: string): string {
  let rest = text
  while (/^HTTP\/1\.[01] 1\d\d[ \r\n]/.test(rest)) {
    const end = /\r?\n\r?\n/.exec(rest)
    if (end === null) break
    rest = rest.slice(end.index + end[0].length)
  }
  return rest
}

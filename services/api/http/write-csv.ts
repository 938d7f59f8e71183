/**
 * Spreadsheets run such a cell as a formula, even quoted; a leading apostrophe makes it text. Some first trim
 * spaces and invisible characters, and East Asian editions accept full-width and small signs.
 */
const formula = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠﹦﹢﹣﹫])/u

/** One line of CSV (RFC 4180). Objects become JSON, missing values empty cells. */
export function writeCsvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(',')}\r\n`
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

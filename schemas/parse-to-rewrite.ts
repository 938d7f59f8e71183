/** Missing in TypeScript's types. */
const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  parse: (
    text: string,
    revive: (name: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown
  rawJSON: (text: string) => unknown
  isRawJSON: (value: unknown) => value is { rawJSON: string }
}

/** Parses JSON text for `JSON.stringify`: whole numbers beyond 2^53 keep their digits. */
export function parseToRewrite(text: string): unknown {
  // A reviver for every value takes several times as long.
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return parse(text, (_name, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? rawJSON(source)
      : value,
  )
}

/** The digits of such a number; undefined for other values. */
export function rawDigits(value: unknown): string | undefined {
  return isRawJSON(value) ? value.rawJSON : undefined
}

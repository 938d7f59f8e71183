/** Ingest's limit of labels. */
export const maxLabelUnits = 256

/** A label as ingest takes it; undefined for what is no text. */
export function labelOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== ''
    ? storable(value).slice(0, maxLabelUnits).toWellFormed()
    : undefined
}

/** The text without what Postgres refuses. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\uFFFD')
}

/** What went wrong, in the words of the error, as ingest takes it: within 8,192 characters, none of them NUL or halved. Never throws: a program may throw anything. */
export function messageOf(error: unknown): string {
  try {
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return words.slice(0, 2_000).replace(/[\0\p{Surrogate}]/gu, '\ufffd')
  } catch {
    return 'an error that has no text'
  }
}

/** What went wrong, in the words of the error; ingest takes 8,192 characters. Never throws: a program may throw anything. */
export function messageOf(error: unknown): string {
  try {
    return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 2_000)
  } catch {
    return 'an error that has no text'
  }
}

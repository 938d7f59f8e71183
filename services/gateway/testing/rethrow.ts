/** An `onDefect` for tests that expect none. */
export function rethrow(error: unknown): never {
  throw error
}

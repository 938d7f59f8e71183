/** Hears of defects where there should be none. */
export function rethrow(error: unknown): never {
  throw error
}

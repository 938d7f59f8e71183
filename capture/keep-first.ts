/** Calls `make` once, on first use, and returns the same value from then on. */
export function keepFirst<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

const realImmediate = setImmediate

/** Resolves when nothing is left that could run without time passing: every promise that was settled has been heard of. */
export function settle(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve))
}

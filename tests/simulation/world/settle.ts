const realImmediate = setImmediate

/** Resolves when nothing more can run without time passing: all settled promises have run their callbacks. */
export function settle(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve))
}

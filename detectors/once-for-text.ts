import type { CallText } from './call-text.ts'

/** Caches a result per text, for detectors that share it. Freed with the text. */
export function onceForText<T extends object>(find: (text: CallText) => T): (text: CallText) => T {
  const found = new WeakMap<CallText, T>()
  return (text) => {
    const before = found.get(text)
    if (before !== undefined) return before
    const first = find(text)
    found.set(text, first)
    return first
  }
}

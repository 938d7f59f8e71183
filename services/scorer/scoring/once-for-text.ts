import type { CallText } from './call-text.ts'

/** Several detectors want to know the same of a text: it is found out once, and forgotten with the text. */
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

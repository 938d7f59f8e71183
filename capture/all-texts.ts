import { objectOf } from './json.ts'
import { isMediaPart } from './media/media-part.ts'

/** Every string value, in order. Iterative, as bodies may be nested deeper than the stack. */
export function allTexts(value: unknown): string[] {
  const found: string[] = []
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string') {
      if (next !== '') found.push(next)
    } else if (Array.isArray(next)) {
      for (const inner of (next as unknown[]).toReversed()) pending.push(inner)
    } else if (isMediaPart(next)) pending.push(next.filename)
    else {
      const object = objectOf(next)
      if (object !== undefined) for (const inner of Object.values(object).toReversed()) pending.push(inner)
    }
  }
  return found
}

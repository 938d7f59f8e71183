/** Tracks whether a JSON object or list that arrives in chunks is complete. */
export interface JsonProgress {
  add(text: string): void
  /** Whether all brackets are closed. False for plain values, as more digits may follow a number. */
  isWhole(): boolean
}

/** Examines each character once; parsing again for each chunk would be quadratic. */
export function createJsonProgress(): JsonProgress {
  let depth = 0
  let isOpened = false
  let isString = false
  let isEscaped = false
  return {
    add(text) {
      for (const character of text) {
        if (isString) {
          if (isEscaped) isEscaped = false
          else if (character === '\\') isEscaped = true
          else if (character === '"') isString = false
        } else if (character === '"') isString = true
        else if (character === '{' || character === '[') {
          depth += 1
          isOpened = true
        } else if (character === '}' || character === ']') depth -= 1
      }
    },
    isWhole: () => isOpened && depth <= 0 && !isString,
  }
}

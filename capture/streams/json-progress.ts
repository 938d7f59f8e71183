/** How far a JSON object or list has come whose text arrives in pieces. */
export interface JsonProgress {
  add(text: string): void
  /**
   * Whether all that was opened is closed. Never of what is no object and no list: more digits may follow a
   * number.
   */
  isWhole(): boolean
}

/** Looks at each character once: to parse anew with each piece would be quadratic. */
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

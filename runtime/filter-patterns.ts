import { RE2JS } from 're2js'
import { messageOf } from './errors.ts'
import { maxTextLength, type FilterBudget } from './filter-costs.ts'

const maxPatterns = 4
const maxPatternLength = 200
/**
 * Maximum instructions of a pattern. Time is their product with the text, and one bounded repeat can make
 * 100,000.
 */
const maxPatternSize = 256

/** The patterns of an expression: few, small, compiled once. Matching is linear, so its cost is bounded. */
export interface FilterPatterns {
  /** Returns what is wrong with the pattern; undefined: nothing. */
  add(pattern: string): string | undefined
  /**
   * Whether `text` matches an added pattern. Throws when the text is too long or the evaluation has cost too
   * much.
   */
  test(pattern: string, text: string, budget: FilterBudget): boolean
}

export function createFilterPatterns(): FilterPatterns {
  let count = 0
  const compiled = new Map<string, RE2JS>()
  return {
    add(pattern) {
      if (count >= maxPatterns) return `matches stands here more than ${maxPatterns} times`
      if (pattern.length > maxPatternLength)
        return `the pattern is longer than ${maxPatternLength} characters`
      try {
        const program = RE2JS.compile(pattern)
        if (program.programSize() > maxPatternSize)
          return `the pattern is too large: its repeats come to more than ${maxPatternSize} steps`
        count += 1
        compiled.set(pattern, program)
        return undefined
      } catch (error) {
        return `the pattern cannot be compiled: ${messageOf(error)}`
      }
    },
    test(pattern, text, budget) {
      const program = compiled.get(pattern)
      if (program === undefined) throw new Error('the pattern was not seen when the expression was compiled')
      if (text.length > maxTextLength)
        throw new Error(`matches takes ${maxTextLength} characters of text at most`)
      budget.drawMatch(text.length, program.programSize())
      return program.test(text)
    },
  }
}

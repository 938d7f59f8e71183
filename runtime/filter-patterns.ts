import { RE2JS } from 're2js'
import { messageOf } from './errors.ts'
import { maxTextLength, type FilterBudget } from './filter-costs.ts'

const maxPatterns = 4
const maxPatternLength = 200
/** Instructions: time is these times the text, and a bounded repeat of 200 characters can make a hundred thousand. */
const maxPatternSize = 256

/** What an expression may match texts with: few patterns, small ones, compiled once. They take linear time, so what they cost is bounded. */
export interface FilterPatterns {
  /** Returns what is wrong with the pattern; undefined when nothing is. */
  add(pattern: string): string | undefined
  /** Whether `text` matches a pattern that was added. Throws when it is too long for any pattern, and when the evaluation has cost too much. */
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

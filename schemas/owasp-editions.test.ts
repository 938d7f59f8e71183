import { expect, test } from '@jest/globals'
import { categoryOfTag, tagOfCategory } from './owasp-editions.ts'
import { owaspDescriptions, type OwaspCategory } from './verdicts.ts'

test.each([
  ['owasp:llm01', 'LLM01'],
  ['owasp:llm02', 'LLM05'],
  ['owasp:llm03', 'LLM04'],
  ['owasp:llm04', 'LLM10'],
  ['owasp:llm05', 'LLM03'],
  ['OWASP:LLM06', 'LLM02'],
  ['owasp:llm08', 'LLM06'],
  ['owasp:llm09', 'LLM09'],
  ['owasp:llm11', undefined],
  ['avid-effect:security:S0403', undefined],
])('%s of 2023 is %s of 2025', (tag, category) => {
  expect(categoryOfTag(tag)).toBe(category)
})

test('every category of 2025 has a tag that leads to some category', () => {
  for (const category of Object.keys(owaspDescriptions) as OwaspCategory[])
    expect(categoryOfTag(tagOfCategory(category))).toBeDefined()
})

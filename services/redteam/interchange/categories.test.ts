import { expect, test } from '@jest/globals'
import { builtInScorers, owaspCategoryOf } from '#schemas/verdicts.ts'
import { judgesOf } from './categories.ts'

test('every scorer that reads answers judges those of its category', () => {
  const ofInput = new Set(['LLM01', 'LLM04', 'LLM08'])
  for (const scorer of builtInScorers) {
    const judges = judgesOf(owaspCategoryOf[scorer]).judged_by
    expect(judges).toContain(ofInput.has(owaspCategoryOf[scorer]) ? 'content_safety' : scorer)
  }
})

test('all scorers of one category judge its answers', () => {
  const shared = { ...owaspCategoryOf, excessive_agency: 'LLM05' } as const
  expect(judgesOf('LLM05', shared)).toEqual({
    scorer: 'content_safety',
    judged_by: expect.arrayContaining(['content_safety', 'excessive_agency']) as unknown,
  })
  expect(() => judgesOf('LLM06', shared)).toThrow('no scorer reports LLM06')
})

import { expect, test } from '@jest/globals'
import { builtInScorers, owaspCategoryOf } from '#schemas/verdicts.ts'
import { judgesOf } from './categories.ts'

test('every scorer that reads answers judges those of its category', () => {
  const ofInput = ['jailbreak_detection', 'data_poisoning', 'vector_weakness']
  for (const scorer of builtInScorers) {
    const judge = ofInput.includes(scorer) ? 'content_safety' : scorer
    expect(judgesOf(owaspCategoryOf[scorer])).toMatchObject({ scorer, judged_by: [judge] })
  }
})

test('all scorers of one category judge its answers', () => {
  const shared = { ...owaspCategoryOf, excessive_agency: 'LLM05' } as const
  expect(judgesOf('LLM05', shared)).toEqual({
    scorer: 'content_safety',
    judged_by: ['content_safety', 'excessive_agency'],
  })
  expect(() => judgesOf('LLM06', shared)).toThrow('no scorer reports LLM06')
})

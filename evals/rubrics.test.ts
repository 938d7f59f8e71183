import { expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { builtInScorers, owaspCategoryOf } from '#schemas/verdicts.ts'
import { groupRubrics } from '#services/scorer/scoring/judge/group-rubrics.ts'
import { parseRubric } from '#services/scorer/scoring/judge/rubric.ts'

const rubricOf = (scorer: string) =>
  parseRubric(readFileSync(path.join(import.meta.dirname, 'rubrics', `${scorer}.md`), 'utf8'))

test.each(builtInScorers)('the rubric of %s anchors five levels and says what is no failure', (scorer) => {
  const { text, version, ...rubric } = rubricOf(scorer)
  expect(rubric.scorer).toBe(scorer)
  for (const level of [1, 2, 3, 4, 5]) expect(text).toMatch(new RegExp(`^${level}\\. .{20,}`, 'm'))
  expect(text).toMatch(/^## Not a failure\n\n- /m)
  expect(text).toMatch(/^## Examples\n\n- .+\n- .+\n- /m)
  expect(text).toContain(owaspCategoryOf[scorer])
  expect(version).toMatch(/^judge-\d+-[0-9a-f]{12}$/)
})

test('no rubric is without its scorer', () => {
  const rubrics = readdirSync(path.join(import.meta.dirname, 'rubrics')).sort()
  expect(rubrics).toEqual(builtInScorers.map((scorer) => `${scorer}.md`).sort())
})

test('what tools are for is seen with what they brought in, at no further call to the judge', () => {
  const call = { request: 'r', answer: 'a', system_prompt: 's', context: ['c'], tools: '[]' }
  const groups = groupRubrics(
    builtInScorers.map(rubricOf),
    { ...call, turns: [], partial: new Set() },
    'evidence',
  )
  const names = groups.map((group) => group.map(({ scorer }) => scorer))
  expect(names).toHaveLength(4)
  expect(names).toContainEqual(['excessive_agency', 'vector_weakness'])
})

import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { builtInScorers, owaspCategoryOf } from '#schemas/verdicts.ts'
import { parseRubric } from '#services/scorer/scoring/judge/rubric.ts'

test.each(builtInScorers)('the rubric of %s anchors five levels and says what is no failure', (scorer) => {
  const file = path.join(import.meta.dirname, 'rubrics', `${scorer}.md`)
  const { text, version, ...rubric } = parseRubric(readFileSync(file, 'utf8'))
  expect(rubric.scorer).toBe(scorer)
  for (const level of [1, 2, 3, 4, 5]) expect(text).toMatch(new RegExp(`^${level}\\. .{20,}`, 'm'))
  expect(text).toMatch(/^## Not a failure\n\n- /m)
  expect(text).toMatch(/^## Examples\n\n- .+\n- .+\n- /m)
  expect(text).toContain(owaspCategoryOf[scorer])
  expect(version).toMatch(/^judge-\d+-[0-9a-f]{12}$/)
})

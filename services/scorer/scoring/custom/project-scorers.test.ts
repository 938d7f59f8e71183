import { expect, test } from '@jest/globals'
import { idToUuid, newId } from '#schemas/ids.ts'
import { projectScorerVersion } from '#schemas/project-scorer.ts'
import { parseBody, readCall } from '#detectors/call-text.ts'
import { makeProjectScorer, makeProjectScorers, type ProjectScorerRow } from './project-scorers.ts'
import { startCustomRun } from './run-custom-scorer.ts'
import { searchablesOf } from './searchable.ts'

const id = newId('projectScorer')
const row = (definition: unknown, more: Partial<ProjectScorerRow> = {}): ProjectScorerRow => ({
  id: idToUuid(id),
  name: 'names',
  version: 3,
  definition,
  description: 'Names of products.',
  severity: 'high',
  owasp_category: 'LLM02',
  ...more,
})

test('keywords are a custom scorer whose rationale says what it is for, with version and severity', () => {
  const made = makeProjectScorer(row({ kind: 'keyword_list', keywords: ['Falcon'], match_on: 'both' }))
  if (!('find' in made)) throw new Error('no custom scorer')
  const version = projectScorerVersion(id, 3)
  expect(made).toMatchObject({ version, isOfProject: true, severity: 'high', owaspCategory: 'LLM02' })
  const call = readCall(parseBody('{"messages":[{"role":"user","content":"Is falcon ready?"}]}'), null)
  const run = startCustomRun(made)
  for (const text of searchablesOf(call)(made.matchOn)) run.read(text)
  expect(run.verdict()).toMatchObject({
    label: 'unsafe',
    rationale: 'Matched keyword 1. Names of products.',
    evidence: [{ pointer: '/messages/0/content', start: 3, end: 9 }],
  })
})

test('a criterion keeps its sentence and examples', () => {
  const definition = { kind: 'criterion', criterion: 'It promises a refund.', safe_examples: ['No refunds.'] }
  expect(makeProjectScorer(row(definition))).toMatchObject({
    sentence: 'It promises a refund.',
    unsafeExamples: [],
    safeExamples: ['No refunds.'],
    looksAt: ['request', 'answer'],
    sees: [],
  })
})

test.each([
  ['no definition', null],
  ['a kind of a later version', { kind: 'model', keywords: ['x'] }],
  ['a pattern that RE2 has not', { kind: 'regex', patterns: ['(?=x)'] }],
  [
    'a definition longer than its bound',
    { kind: 'keyword_list', keywords: Array(70).fill('x'.repeat(1_000)) },
  ],
])('%s is broken, and takes no other scorer with it', (_name, definition) => {
  const good = row({ kind: 'keyword_list', keywords: ['x'] }, { name: 'good' })
  const made = makeProjectScorers([row(definition), good])
  expect(made.broken).toMatchObject([{ name: 'names' }])
  expect(made.custom.map(({ name }) => name)).toEqual(['good'])
})

import { expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { builtInScorers } from '#schemas/verdicts.ts'
import { makeProjectScorers } from '../scoring/custom/project-scorers.ts'
import { parseScorers } from '../scoring/custom/parse-scorers.ts'
import { readTiers } from '../stores/read-evals.ts'
import { sampleJob } from '../testing/sample-job.ts'
import { chooseScorers, isSampled } from './choose-scorers.ts'

const project = newId('project')
const parsed = parseScorers(`
- { name: everywhere, type: keyword_list, severity: high, keywords: [a] }
- { name: here, type: keyword_list, severity: high, keywords: [a], projects: [${project}] }
- { name: elsewhere, type: keyword_list, severity: high, keywords: [a], projects: [${newId('project')}] }
`)
const custom = parsed.ok ? parsed.scorers : []
const tiers = readTiers('evals/tiers.yaml')
const choose = (changes: Partial<ScoreJob>) => {
  const job = sampleJob(createSealer([]), {}, { project_id: project, ...changes })
  const chosen = chooseScorers(job, tiers, custom)
  return [...chosen.builtIn, ...chosen.custom.map(({ name }) => name)]
}
const free = ['content_safety', 'pii_detection', 'jailbreak_detection']
const pro = [...free, 'system_prompt_leakage', 'hallucination', 'unbounded_consumption']

test.each<[string, Partial<ScoreJob>, readonly string[]]>([
  ['free', { tier: 'free' }, [...free, 'everywhere', 'here']],
  ['pro', { tier: 'pro' }, [...pro, 'everywhere', 'here']],
  ['team', { tier: 'team' }, [...builtInScorers, 'everywhere', 'here']],
  ['enterprise', { tier: 'enterprise' }, [...builtInScorers, 'everywhere', 'here']],
  ['named ones', { scorers: ['pii_detection', 'here', 'gone'] }, ['pii_detection', 'here']],
  ['a named one that the tier lacks', { tier: 'free', scorers: ['hallucination'] }, []],
  ['nobody named', { scorers: [] }, []],
])('%s', (_name, changes, names) => {
  expect(choose(changes).sort()).toEqual([...names].sort())
})

test.each([
  [0, []],
  [0.5, ['first']],
  [0.6, ['first', 'second']],
  [1, ['first', 'second', 'third']],
])('of the share %d those are scored whose hash lies in it', (share, sampled) => {
  // SHA-256 of each as a share of the maximum: 0.05, 0.53 and 0.73.
  const ids = { first: 'req_2', second: 'req_12', third: 'req_19' }
  const isChosen = (request_id: string) => {
    const job = sampleJob(createSealer([]), {}, { project_id: project, request_id, scorers: ['here'] })
    return chooseScorers(job, tiers, custom, { sampling: { here: share } }).custom.length === 1
  }
  expect(Object.entries(ids).flatMap(([name, id]) => (isChosen(id) ? [name] : []))).toEqual(sampled)
})

test('what a project switched off is left out, and its own scorers run unless the file has their name', () => {
  const own = makeProjectScorers(
    ['own', 'here', 'elsewhere', 'off too', 'unnamed'].map((name) => ({
      id: idToUuid(newId('projectScorer')),
      name,
      version: 1,
      definition: { kind: 'keyword_list', keywords: ['b'] },
      description: null,
      severity: 'high',
      owasp_category: null,
    })),
  )
  const named = ['pii_detection', 'content_safety', 'everywhere', 'here', 'own', 'elsewhere', 'off too']
  const job = sampleJob(createSealer([]), {}, { project_id: project, scorers: named })
  const off = new Set(['content_safety', 'everywhere', 'off too'])
  const chosen = chooseScorers(job, tiers, custom, { off, scorers: own })
  expect(chosen.builtIn).toEqual(['pii_detection'])
  expect(chosen.custom.map(({ name, isOfProject }) => [name, isOfProject])).toEqual([
    ['here', false],
    ['own', true],
    ['elsewhere', true],
  ])
})

test.each(['platinum', '', '__proto__', 'toString'])('the unknown tier "%s" is refused', (tier) => {
  expect(() => choose({ tier })).toThrow('unknown tier')
})

test('sampling takes its share, the same each time, and a larger share takes all of a smaller', () => {
  const ids = Array.from({ length: 4_000 }, () => newId('request'))
  const taken = (share: number) => ids.filter((id) => isSampled(id, share))
  expect(taken(0)).toEqual([])
  expect(taken(1)).toEqual(ids)
  // Five standard deviations of a binomial.
  expect(Math.abs(taken(0.25).length - 1_000)).toBeLessThan(137)
  const larger = new Set(taken(0.5))
  expect(taken(0.25).every((id) => larger.has(id))).toBe(true)
})

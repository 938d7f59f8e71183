import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { parseScorers } from '../scoring/custom/parse-scorers.ts'
import { readRubrics, readTiers } from './read-evals.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'evals-'))
afterAll(() => rmSync(directory, { recursive: true }))
const write = (name: string, text: string) => {
  const file = path.join(directory, name)
  writeFileSync(file, text)
  return file
}

test('the files of the repository are good', () => {
  expect(readTiers('evals/tiers.yaml').free).toEqual([
    'content_safety',
    'pii_detection',
    'jailbreak_detection',
  ])
  expect(readRubrics('evals/rubrics').get('content_safety')?.version).toMatch(/^judge-1-[0-9a-f]{12}$/)
  expect(parseScorers(readFileSync('evals/scorers.yaml', 'utf8'))).toMatchObject({ ok: true })
})

describe('a bad file is named with what is wrong', () => {
  test.each([
    ['a tier missing', 'free: []\npro: []\nteam: []', 'enterprise'],
    ['an unknown tier', 'free: []\npro: []\nteam: []\nenterprise: []\ngold: []', 'gold'],
    ['an unknown scorer', 'free: [magic]\npro: []\nteam: []\nenterprise: []', 'free'],
    [
      'a scorer twice',
      'free: [hallucination, hallucination]\npro: []\nteam: []\nenterprise: []',
      'duplicate scorer',
    ],
  ])('%s', (_name, yaml, reason) => {
    const file = write('tiers.yaml', yaml)
    expect(() => readTiers(file)).toThrow(file)
    expect(() => readTiers(file)).toThrow(reason)
  })

  test('rubrics: missing, or under another name', () => {
    expect(() => readRubrics(directory)).toThrow('no rubric for content_safety')
    write('other.md', '---\nscorer: content_safety\nversion: 1\nlooks_at: [request]\n---\ntext')
    expect(() => readRubrics(directory)).toThrow('is the rubric of content_safety')
    expect(() => readRubrics(path.join(directory, 'nowhere'))).toThrow('nowhere')
  })
})

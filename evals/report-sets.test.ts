import { expect, test } from '@jest/globals'
import { reportSetsOf } from './report-sets.ts'
import type { Sample } from './samples.ts'

const sample = (id: string, prompt: string): Sample => ({
  id,
  set: 'one',
  scorer: 'content_safety',
  label: 0,
  prompt,
  response: '',
  context: '',
  system: '',
  spans: [],
})
const english = (id: number) => sample(`en-${id}`, 'What is the name of the man that you have seen with her?')
const german = (id: number) =>
  sample(`de-${id}`, 'Wie heißt der Mann, den du gestern mit ihr im Park gesehen hast?')
const times = (many: number, make: (id: number) => Sample) =>
  Array.from({ length: many }, (_, id) => make(id))

const languageRows = (samples: Sample[]) =>
  reportSetsOf(samples, 'content_safety').flatMap(({ set, samples: members, language }) =>
    language === undefined ? [] : [[set, members.length]],
  )

test('samples in several languages have a row for each', () => {
  expect(languageRows([...times(8, german), ...times(9, english)])).toEqual([
    ['language: en', 9],
    ['language: de', 8],
  ])
})

test('one language, or few samples of another, make no rows', () => {
  expect(languageRows([...times(7, german), ...times(9, english)])).toEqual([])
})

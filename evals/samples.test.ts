import { expect, test } from '@jest/globals'
import path from 'node:path'
import { evaluateDetectors } from './evaluate.ts'
import { isIn, readSamples } from './samples.ts'

const samples = readSamples(path.join(import.meta.dirname, 'datasets'))

test('every line of the data sets is in exactly one half', () => {
  expect(samples.filter(({ id }) => isIn('train', id) === isIn('report', id))).toEqual([])
  expect(samples.filter(({ id }) => !isIn('all', id))).toEqual([])
})

test('the detectors reach their floors on the half that they were not made from', () => {
  const rows = evaluateDetectors(
    samples.filter(({ id }) => isIn('report', id)),
    { rounds: 0 },
  )
  const row = (set: string) => rows.find((candidate) => candidate.set === set)
  expect(row('inthewild-jailbreaks')?.recall?.value).toBeGreaterThan(0.75)
  expect(row('notinject')?.false_positive_rate?.value).toBeLessThan(0.06)
  expect(row("other scorers' prompts")?.false_positive_rate?.value).toBeLessThan(0.005)
  expect(row('structured identifiers')?.precision?.value).toBeGreaterThan(0.9)
  // The floor is .99 of documents; one of the 73 on this half is missed (see evals/reports).
  expect(row('structured identifiers')?.recall?.value).toBeGreaterThan(0.98)
})

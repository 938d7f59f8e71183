import { expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createLinearModel, type ModelFile } from '#detectors/linear/linear-model.ts'
import { trainingPlans } from './training-plans.ts'

const models = path.join(import.meta.dirname, '../detectors/models')
const datasets = path.join(import.meta.dirname, 'datasets')

test('every plan has its model, and no model is without a plan', () => {
  expect(readdirSync(models).sort()).toEqual(trainingPlans.map(({ model }) => `${model}.json`).sort())
})

test.each(trainingPlans)(
  '$model was trained with the features and the data that are here: else run evals/train.ts',
  (plan) => {
    const file = JSON.parse(readFileSync(path.join(models, `${plan.model}.json`), 'utf8')) as ModelFile & {
      made_from: { set: string; sha256: string }[]
    }
    const { probability } = createLinearModel(file, plan.signs).read(file.probe.text)
    expect(probability).toBeCloseTo(file.probe.probability, 3)
    for (const { set, sha256 } of file.made_from) {
      const names = ['.', 'training'].flatMap((folder) =>
        readdirSync(path.join(datasets, folder)).map((name) => path.join(folder, name)),
      )
      const name = names.find((candidate) => candidate.endsWith(`.${set}.jsonl`))
      const content = name === undefined ? '' : readFileSync(path.join(datasets, name))
      expect([set, createHash('sha256').update(content).digest('hex').slice(0, 16)]).toEqual([set, sha256])
    }
  },
)

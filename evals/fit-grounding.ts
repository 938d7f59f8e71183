import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { createMaterial } from '#detectors/grounding/compare-answer.ts'
import { fitModel } from './fit-model.ts'
import { isIn, readSamples, type Sample } from './samples.ts'

const here = import.meta.dirname
const file = path.join(here, '../detectors/grounding/weights.json')
// Few features and many examples: more rounds than for words, and hardly any penalty.
const settings = { bits: 5, rounds: 200, l2: 1e-6, seed: 20_261_129 }
const sets = ['begin', 'summedits']

/** Fits the weights of hallucination's features on the training half. The same data give the same file. */
function main(): void {
  const samples = readSamples(path.join(here, 'datasets')).filter(
    ({ id, set }) => sets.includes(set) && isIn('train', id),
  )
  const compared = samples.map((sample) => ({ sample, ...compare(sample) }))
  const fit = (isLong: boolean) => {
    const examples = compared
      .filter((one) => one.isLong === isLong)
      .map(({ sample, features }) => ({
        indices: Int32Array.from(features.keys()),
        weights: Float32Array.from(features),
        label: sample.label,
        weight: 1,
      }))
    const { bias, weights } = fitModel(examples, settings)
    const count = compared.find((one) => one.isLong === isLong)?.features.length ?? 0
    return {
      bias: round(bias),
      weights: Array.from(weights.slice(0, count), round),
      examples: examples.length,
    }
  }
  const made = { made_by: 'node evals/fit-grounding.ts', made_from: sets, short: fit(false), long: fit(true) }
  writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`)
  console.log(JSON.stringify(made))
}

function compare({ context, prompt, response }: Sample) {
  const material = createMaterial()
  material.addSupplied(context)
  material.addRest(prompt)
  return material.compare(response)
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4
}

main()

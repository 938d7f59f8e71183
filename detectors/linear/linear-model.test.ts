import { describe, expect, test } from '@jest/globals'
import { createLinearModel, type ModelFile } from './linear-model.ts'
import { createFeatureCounter } from './text-features.ts'

const bits = 12
const countOnce = (text: string) => {
  const { length, indices, weights } = createFeatureCounter(bits).count(text)
  return { length, indices: [...indices], weights: [...weights] }
}

describe('features', () => {
  test('have the length 1, whatever the length of the text', () => {
    for (const text of ['one', 'one two three', 'many words '.repeat(500)]) {
      const squares = countOnce(text).weights.reduce((sum, weight) => sum + weight * weight, 0)
      expect(squares).toBeCloseTo(1, 5)
    }
  })

  test('of a text do not depend on what was counted before', () => {
    const counter = createFeatureCounter(bits)
    counter.count('something else altogether')
    const again = counter.count('ignore the rules')
    expect([...again.indices]).toEqual(countOnce('ignore the rules').indices)
  })

  test('are those of the letters that a disguise stands for', () => {
    expect(countOnce('Іgnore thе rules')).toEqual(countOnce('ignore the rules'))
  })

  test('of no words are none', () => {
    expect(countOnce(' … !').length).toBe(0)
  })

  test('grow in number as the text does: work is a fixed amount a letter', () => {
    const counter = createFeatureCounter(20)
    const word = (index: number) => `w${(index * 2_654_435_761) % 4_294_967_296}`
    const textOf = (words: number) => Array.from({ length: words }, (_unused, index) => word(index)).join(' ')
    const few = counter.count(textOf(500)).length
    expect(counter.count(textOf(2_000)).length).toBeLessThan(few * 4.2)
  })
})

describe('a model', () => {
  /** A model that weighs a single word. */
  const probe = { text: '', probability: 0 }
  const modelFor = (word: string) => {
    const { indices } = countOnce(word)
    const steps = new Int8Array(1 << bits)
    for (const index of indices) steps[index] = 127
    const weights = Buffer.from(steps.buffer).toString('base64')
    const file: ModelFile = {
      name: 'm',
      version: 'v',
      bits,
      bias: -3,
      scale: 0.1,
      weights,
      found_at: 0.5,
      probe,
    }
    return createLinearModel(file)
  }

  test('finds its word', () => {
    const model = modelFor('bomb')
    expect(model.read('bomb').probability).toBeGreaterThan(model.foundAt)
    expect(model.read('flower').probability).toBeLessThan(model.foundAt)
  })

  test('reads a long text a passage at a time, up to its end, and says which was worst', () => {
    const filler = 'flower '.repeat(2_000)
    const { probability, start, end } = modelFor('bomb').read(`${filler}${'bomb '.repeat(200)}`)
    expect(probability).toBeGreaterThan(0.5)
    expect(start).toBeLessThan(filler.length + 1_000)
    expect(end).toBe(filler.length + 1_000)
    expect(end - start).toBeLessThanOrEqual(4_000)
  })
})

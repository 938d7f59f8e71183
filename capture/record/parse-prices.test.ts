import { describe, expect, test } from '@jest/globals'
import { parsePrices } from './parse-prices.ts'

describe('a price list', () => {
  test('is JSON or YAML, and names are compared in lower case', () => {
    const json = '{"prices": [{"provider": "Azure", "models": ["My-GPT"], "input": 1, "output": 2}]}'
    const yaml = 'prices:\n  - { provider: azure, models: [my-gpt], input: 1, output: 2 }\n'
    const prices = [{ provider: 'azure', models: ['my-gpt'], input: 1, output: 2 }]
    expect(parsePrices(json, 'a.json')).toEqual(prices)
    expect(parsePrices(yaml, 'a.yaml')).toEqual(prices)
  })

  test.each([
    ['is no list', '{"models": []}', 1, 'expected an object with a list `prices`'],
    ['is broken', '{"prices": [', 1, 'Flow sequence'],
    [
      'has a negative price',
      '{"prices": [\n{"models": ["a"], "input": 1, "output": 1},\n{"models": ["b"], "input": -1, "output": 1}]}',
      3,
      'input: Too small',
    ],
    ['misspells a field', '{"prices": [\n\n{"models": ["a"], "input": 1, "outptu": 1}]}', 3, 'output'],
    ['has text for a number', 'prices:\n  - models: [a]\n    input: 1\n    output: cheap\n', 4, 'output'],
    ['has no models', 'prices:\n  - models: []\n    input: 1\n    output: 1\n', 2, 'models'],
  ])('that %s is refused with file, line and reason', (_name, text, line, reason) => {
    const said = new RegExp(`^prices\\.yaml:${line}: .*${reason}`)
    expect(() => parsePrices(text, 'prices.yaml')).toThrow(said)
  })
})

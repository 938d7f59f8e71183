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

  test('names what costs beside text tokens', () => {
    const price = {
      ...{ models: ['m'], input: 1, output: 2, audio_input: 3, image_output: 4, call: 5 },
      tiers: { flex: { times: 0.5, cached_input: 1 }, priority: 2 },
      inference_geo: { us: 1.1 },
      uses: { web_search: 0.01, google_maps: { per_call: 0.025 } },
    }
    expect(parsePrices(JSON.stringify({ prices: [price] }), 'a.json')).toEqual([price])
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
    [
      'misspells a tier',
      'prices:\n  - models: [a]\n    input: 1\n    output: 1\n    tiers: {flex: {tims: 1}}\n',
      5,
      'tiers',
    ],
    [
      'has a fee below nothing',
      'prices:\n  - models: [a]\n    input: 1\n    output: 1\n    uses: {s: -1}\n',
      5,
      'uses',
    ],
    ['has no models', 'prices:\n  - models: []\n    input: 1\n    output: 1\n', 2, 'models'],
  ])('that %s is refused with file, line and reason', (_name, text, line, reason) => {
    const said = new RegExp(`^prices\\.yaml:${line}: .*${reason}`)
    expect(() => parsePrices(text, 'prices.yaml')).toThrow(said)
  })
})

import { expect, test } from '@jest/globals'
import { noLimits } from '#schemas/key-limits.ts'
import { listedFor, listedModels } from './model-list.ts'

test.each([
  [
    'OpenAI',
    { object: 'list', data: [{ id: 'a' }, { id: 'b-1' }, { id: 'c' }] },
    { object: 'list', data: [{ id: 'a' }, { id: 'b-1' }] },
  ],
  ['Google', { models: [{ name: 'models/a' }, { name: 'models/c' }] }, { models: [{ name: 'models/a' }] }],
  ['Ollama', { models: [{ name: 'x', model: 'a' }, { name: 'c' }] }, { models: [{ name: 'x', model: 'a' }] }],
  [
    'Bedrock',
    { modelSummaries: [{ modelId: 'b-2' }, { modelId: 'c' }, 7] },
    { modelSummaries: [{ modelId: 'b-2' }] },
  ],
])('a list of %s', (_name, list, shown) => {
  const answer = listedModels(Buffer.from(JSON.stringify(list)), ['a', 'b-*'])
  expect(JSON.parse(answer?.toString() ?? '')).toEqual(shown)
})

test.each([['no JSON'], ['[]'], ['{"x":[]}'], ['{"data":{}}']])('%s is unreadable', (text) => {
  expect(listedModels(Buffer.from(text), ['a'])).toBeUndefined()
})

test.each([
  ['GET', '/v1/models', true],
  ['GET', '/v1beta/models?pageSize=5', true],
  ['GET', '/v1/models/', true],
  ['HEAD', '/v1/models', false],
  ['GET', '/v1/models/a', false],
  ['POST', '/v1/models', false],
])('%s %s asks for the list: %s', (method, path, isList) => {
  const limits = { ...noLimits, keyId: 'key_a', models: ['a'] }
  expect(listedFor(limits, method, path) !== undefined).toBe(isList)
  expect(listedFor({ ...limits, models: null }, method, path)).toBeUndefined()
  expect(listedFor(undefined, method, path)).toBeUndefined()
})

import { expect, test } from '@jest/globals'
import { finishTyped, isFilter, labelOfFilter, suggest } from './filter-language.ts'

test.each([
  ['Model is gpt-4o', 'model', 'gpt-4o'],
  ['model is not claude sonnet', 'model.not', 'claude sonnet'],
  ['user_id contains bob', 'user_id.contains', 'bob'],
  ['Agent starts with desk-', 'agent_name.prefix', 'desk-'],
  ['agent tag = v2', 'agent_tag', 'v2'],
  ['Latency in ms > 1500', 'latency_ms.gt', '1500'],
  ['cost in us$ <0.25', 'cost_usd.lt', '0.25'],
  ['Verdict is No finding', 'verdict', 'no_finding'],
  ['severity is high', 'severity', 'high'],
  ['metadata.team is support', 'metadata.team', 'support'],
  ['metadata.team is not support', 'metadata_not.team', 'support'],
  ['metadata.a.b starts with x y', 'metadata_prefix.a.b', 'x y'],
  ['metadata.tries > 3', 'metadata_gt.tries', '3'],
])('%s', (text, name, value) => {
  expect(finishTyped(text)).toEqual({ name, value })
  expect(isFilter(name)).toBe(true)
})

test.each([
  ['modle is x', /There is no field “modle is x”/],
  ['Model', /There is no field|Add is/],
  ['Model ', /Add is, is not, contains, starts with and a value/],
  ['Model is', /Enter a value/],
  ['Severity contains h', /Severity can be compared by: is/],
  ['Severity is huge', /Severity is one of: critical, high, medium/],
  ['Latency in ms > soon', /Enter a number/],
])('%s is no filter', (text, message) => {
  expect(finishTyped(text)).toMatchObject({ message: expect.stringMatching(message) as unknown })
})

const values = (name: string) => (name === 'model' ? ['gpt-4o', 'gpt-4o-mini', 'claude'] : [])
test.each([
  ['sco', ['Scorer']],
  ['Model ', ['Model is', 'Model is not', 'Model contains', 'Model starts with']],
  ['Model is n', ['Model is not', 'Model is gpt-4o-mini']],
  ['Model is gpt', ['Model is gpt-4o', 'Model is gpt-4o-mini']],
  ['Model is not ', ['Model is not gpt-4o', 'Model is not gpt-4o-mini', 'Model is not claude']],
  ['Severity is h', ['Severity is high']],
  ['Status code ', ['Status code >', 'Status code <']],
  ['Model contains g', []],
  ['metadata.team is', ['metadata.team is not']],
  ['metadata.team s', ['metadata.team starts with']],
])('%s goes on', (text, expected) => {
  expect(suggest(text, values).slice(0, 4)).toEqual(expected)
})

test('says a filter in words, and knows which parameters are none', () => {
  expect(labelOfFilter('model.not')).toBe('Model is not')
  expect(['metadata.team', 'metadata_lt.a.b'].map(labelOfFilter)).toEqual(['metadata.team', 'metadata.a.b <'])
  expect(
    ['model.like', 'label.not', 'project', 'latency_ms', 'a.b.c', 'metadata_like.a', 'metadata_not.'].filter(
      isFilter,
    ),
  ).toEqual([])
})

import { expect, test } from '@jest/globals'
import { parseSearch, writeSearch } from './search-texts.ts'

test.each([
  { agrees: 'false' },
  { user_id: '123', page: '2' },
  { model: 'null', agent_name: '' },
  { note: '"quoted" & {"a": 1} + ü%20' },
])('%j is the same when it comes back from the address', (texts) => {
  expect(parseSearch(writeSearch(texts))).toEqual(texts)
})

test('nothing is no question mark, and what is no text is left out', () => {
  expect(writeSearch({ project: undefined, page: 2 })).toBe('')
  expect(parseSearch('')).toEqual({})
})

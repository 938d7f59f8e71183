import { expect, test } from '@jest/globals'
import { stringsOf } from './strings-of.ts'

test('pointers escape what RFC 6901 escapes', () => {
  expect([...stringsOf({ 'a/b': { '~c': 'x' } })]).toMatchObject([
    { pointer: '/a~1b/~0c', name: '~c', within: { name: 'a/b' }, text: 'x' },
  ])
})

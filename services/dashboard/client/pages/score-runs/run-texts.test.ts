import { expect, test } from '@jest/globals'
import { describeState, inOrder } from './run-texts.ts'

test('what a run says is later than what stands, until it is promoted: then it has what stood before', () => {
  const pair = { before: 'safe', after: 'unsafe' }
  expect(inOrder({ status: 'done' }, pair)).toEqual(['safe', 'unsafe'])
  expect(inOrder({ status: 'promoted' }, pair)).toEqual(['unsafe', 'safe'])
})

test('only of a run that is under way it is said that calls are missing', () => {
  expect(describeState({ status: 'scoring' })).toBe('Not every call is scored yet')
  expect(describeState({ status: 'done' })).toBeUndefined()
  expect(describeState({ status: 'cancelled' })).toBeUndefined()
})

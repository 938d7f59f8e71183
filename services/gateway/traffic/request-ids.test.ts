import { expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { createRequestIds } from './request-ids.ts'

test('an identifier names one call, whether the application made it or the gateway', () => {
  const ids = createRequestIds()
  const given = newId('request')
  const made = ids.claim(undefined, 0)
  expect(ids.claim(given, 0)).toBe(given)
  const names = [given, made, ids.claim(given, 0), ids.claim(made, 0), ids.claim(undefined, 0)]
  expect(new Set(names).size).toBe(5)
})

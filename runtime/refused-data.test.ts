import { expect, test } from '@jest/globals'
import { PermanentError } from './errors.ts'
import { asUnstorable } from './refused-data.ts'

const refusal = (code: string) => Object.assign(new Error('refused'), { code })

test.each([
  ['a NUL character', '22P05'],
  ['a check', '23514'],
  ['a key that no index takes', '54000'],
])('%s is for good', (_name, code) => {
  expect(asUnstorable(refusal(code))).toBeInstanceOf(PermanentError)
})

test.each(['40P01', '53300', '57014', 'ECONNRESET'])('%s is of the moment', (code) => {
  const error = refusal(code)
  expect(asUnstorable(error)).toBe(error)
})

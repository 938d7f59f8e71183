import { expect, test } from '@jest/globals'
import { PermanentError } from './errors.ts'
import { asUnstorable } from './refused-data.ts'

const refusal = (code: string, routine: string) => Object.assign(new Error('refused'), { code, routine })

test.each([
  ['a NUL character', '22P05', 'json_lex_string'],
  ['a check', '23514', 'ExecConstraints'],
  ['a key that no index takes', '54000', '_bt_check_third_page'],
])('%s is for good', (_name, code, routine) => {
  expect(asUnstorable(refusal(code, routine))).toBeInstanceOf(PermanentError)
})

test.each([
  ['a deadlock', '40P01', 'DeadLockReport'],
  ['no connection left', '53300', 'InitPostgres'],
  ['no transaction left', '54000', 'GetNewTransactionId'],
  ['a broken connection', 'ECONNRESET', ''],
])('%s is of the moment', (_name, code, routine) => {
  const error = refusal(code, routine)
  expect(asUnstorable(error)).toBe(error)
})

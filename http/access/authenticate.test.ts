import { expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { createAuthenticate } from './authenticate.ts'

const secret = 'the-secret-of-the-operator'

function authenticate(headers: Record<string, string>) {
  const none = () => Promise.resolve(undefined)
  return createAuthenticate({
    keys: { findKey: none, findProject: none, forgetProject: () => undefined },
    operatorSecret: secret,
    clock: systemClock,
    onUse: () => undefined,
  })(headers, 'operator')
}

test('the operator is who sends the secret as a bearer token', async () => {
  expect(await authenticate({ authorization: `Bearer ${secret}` })).toEqual({ kind: 'operator' })
})

test.each([
  ['the secret as a service key', { 'x-service-key': secret }],
  ['the secret behind a service key', { 'x-service-key': 'another', authorization: `Bearer ${secret}` }],
  ['a part of the secret', { authorization: `Bearer ${secret.slice(1)}` }],
])('%s makes nobody the operator', async (_name, headers) => {
  await expect(authenticate(headers)).rejects.toMatchObject({ status: 401, code: 'KEY_INVALID' })
})

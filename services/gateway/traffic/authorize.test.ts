import { expect, test } from '@jest/globals'
import { createAuthorizer } from './authorize.ts'

const project = { projectId: 'prj_1', isEphemeral: false }
const authorize = createAuthorizer(['first', 'second', 'third'], () => project)

test.each(['first', 'second', 'third'])('each key opens, wherever it stands in the list: %s', (key) => {
  expect(authorize(`Bearer ${key}`)).toBe(project)
  expect(authorize(`bearer  ${key} `)).toBe(project)
})

test.each(['Bearer fourth', 'Bearer firstsecond', 'Bearer ', 'Basic first', 'first', undefined])(
  '%s is nobody',
  (authorization) => {
    expect(authorize(authorization)).toBe('unknown')
  },
)

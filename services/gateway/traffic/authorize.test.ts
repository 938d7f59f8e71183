import { expect, test } from '@jest/globals'
import { createAuthorizer } from './authorize.ts'

const project = { projectId: 'prj_1', isEphemeral: false }
const authorize = createAuthorizer(['first', 'second', 'third'], () => project)

test.each(['first', 'second', 'third'])('each key opens, wherever it stands in the list: %s', (key) => {
  expect(authorize(key)).toBe(project)
})

test.each(['fourth', 'firstsecond', 'Bearer first', ''])('%j is nobody', (key) => {
  expect(authorize(key)).toBe('unknown')
})

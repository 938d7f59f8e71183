import { expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'
import { checkIdentity } from './check-identity.ts'
import { checkScoredCall } from './place-score.ts'

const projectId = newId('project')
const requestId = newId('request')

test.each([
  ['both well-formed', projectId, requestId, undefined],
  ['a project of another kind', requestId, requestId, /^project_id /],
  ['no request', projectId, '', /^request id ""/],
  ['a request of hostile length', projectId, 'x'.repeat(100_000), /^request id "x{40}" is/],
])('%s', (_name, project, request, message) => {
  const error = checkIdentity(project, request)
  if (message === undefined) expect(error).toBeUndefined()
  else expect(error).toMatchObject({ code: 'INVALID_IDENTIFIER', message: expect.stringMatching(message) })
})

test.each([
  ['well-formed', {}, undefined],
  ['of no run', { run_id: 'live' }, 'INVALID_IDENTIFIER'],
  [
    'with a score of no identifier',
    { scores: [sampleScore(projectId, requestId, { id: 'scr_1' })] },
    'INVALID_IDENTIFIER',
  ],
])('a scored call %s', (_name, changes, code) => {
  expect(checkScoredCall(sampleScoredCall(sampleCall(projectId), changes))?.code).toBe(code)
})

import { expect, test } from '@jest/globals'
import { liveRunId, newId } from '#schemas/ids.ts'
import { avroSchemas } from '#schemas/topics.ts'
import avro from 'avsc'
import { sampleCall } from '../testing/sample-records.ts'
import { makeScoreJob } from './make-score-job.ts'

test('a job carries the context and the bodies of its call, under the live run, and fits its schema', () => {
  const projectId = newId('project')
  const call = sampleCall(projectId, { tool_name: 'search', metadata: null })
  const job = makeScoreJob(call, 1_700_000_000_000)
  expect(job).toMatchObject({
    request_id: call.id,
    project_id: projectId,
    run_id: liveRunId(projectId),
    scorers: null,
    tool_name: 'search',
    request_body: call.request_body,
    response_body: call.response_body,
    queued_at: 1_700_000_000_000,
  })
  expect(job).not.toHaveProperty('id')
  expect(avro.Type.forSchema(avroSchemas.SafetyScoreJob as avro.Schema).isValid(job)).toBe(true)
})

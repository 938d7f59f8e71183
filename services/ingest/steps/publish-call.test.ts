import { expect, test } from '@jest/globals'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { createSealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { createPublishCall } from './publish-call.ts'

const call = {
  id: newId('request'),
  project_id: newId('project'),
  zero_content_retention: false,
} as LoggedCall
const content = { requestBody: Buffer.from('{}'), responseBody: null, preview: null }

test.each([
  [new PermanentError('UNENCODABLE', 'x'), 422, 'UNENCODABLE'],
  [new PermanentError('RECORD_TOO_LARGE', 'x'), 413, 'RECORD_TOO_LARGE'],
  [new TransientError('KAFKA_UNAVAILABLE', 'x'), 503, 'QUEUE_UNAVAILABLE'],
])('%s is the answer to its record alone: %s %s', async (error, status, code) => {
  const topic = { name: 'calls', encoder: { encode: () => Promise.reject(error) } }
  const never = () => Promise.reject(new Error('nothing was encoded'))
  const publish = createPublishCall({
    producer: { start: never, stop: never, send: never },
    sealer: createSealer([]),
    sign: () => null,
    logged: topic,
    ephemeral: topic,
  })
  await expect(publish(call, content)).rejects.toMatchObject({ status, code })
})

import { expect, test } from '@jest/globals'
import type { OutgoingRecord } from '#runtime/kafka/records.ts'
import { createSealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import { createJobQueues, isSecondTry } from './job-queues.ts'
import { sampleJob } from './testing/sample-job.ts'

const sent: OutgoingRecord[] = []
const queues = createJobQueues({
  producer: { send: (records) => (sent.push(...records), Promise.resolve()) },
  encoder: { encode: (job) => Promise.resolve(Buffer.from(job.request_id)) },
  topicPrefix: 'test.',
})
const sealer = createSealer([])
const topic = (name: string) => `test.safety_score_jobs.${name}`
const headersOf = ({ headers = {} }: OutgoingRecord) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

test('large calls of a project stand under three keys of its own, those without retention apart', async () => {
  sent.length = 0
  const project_id = newId('project')
  for (let count = 0; count < 100; count++) await queues.handOver(sampleJob(sealer, {}, { project_id }))
  await queues.handOver(sampleJob(sealer, {}, { zero_content_retention: true }))
  const keys = new Set(sent.slice(0, 100).map(({ key }) => String(key)))
  expect([...keys].sort()).toEqual([0, 1, 2].map((number) => `${project_id}/${number}`))
  expect(sent.map(({ topic }) => topic).slice(98)).toEqual(['large', 'large', 'large.ephemeral'].map(topic))
})

test('a job that is tried later goes to the end of its queue, and says so there', async () => {
  sent.length = 0
  const job = sampleJob(sealer)
  await queues.handOver(job)
  await queues.tryLater(job, 'large')
  await queues.tryLater(job, 'replay')
  expect(sent.map(({ topic }) => topic)).toEqual(['large', 'large', 'replay'].map(topic))
  expect(sent.map((record) => isSecondTry({ headers: headersOf(record) }))).toEqual([false, true, true])
  expect([sent[1]?.key, sent[2]?.key]).toEqual([sent[0]?.key, job.request_id])
})

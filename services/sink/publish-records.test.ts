import { expect, test } from '@jest/globals'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { publishEach } from './publish-records.ts'

const jobs = ['a', 'bad', 'c'].map((id) => ({ request_id: id }) as ScoreJob)

/** Publishes by a broker that refuses `bad` for good, and that `fails` alone with what is given. */
function publishing(fails: Readonly<Record<string, Error>>) {
  const sent: string[][] = []
  const refused: string[] = []
  const publishJobs = (given: readonly ScoreJob[]) => {
    const ids = given.map(({ request_id: id }) => id)
    if (ids.length > 1 && ids.includes('bad')) return Promise.reject(new PermanentError('TOO_LARGE', 'no'))
    const failure = fails[ids[0] ?? '']
    if (failure !== undefined) return Promise.reject(failure)
    sent.push(ids)
    return Promise.resolve()
  }
  const onRefused = (job: ScoreJob) => void refused.push(job.request_id)
  return { sent, refused, publish: (given: ScoreJob[]) => publishEach(publishJobs, given, onRefused) }
}

test('a job refused for good is passed over and reported; its neighbours are published', async () => {
  const { sent, refused, publish } = publishing({ bad: new PermanentError('TOO_LARGE', 'no') })
  expect(await publish(jobs)).toEqual([jobs[1]])
  expect({ sent, refused }).toEqual({ sent: [['a'], ['c']], refused: ['bad'] })
  expect(await publish([])).toEqual([])
})

test('a transient failure is not a refused job: the caller retries all', async () => {
  const away = new TransientError('KAFKA_UNAVAILABLE', 'away')
  const { refused, publish } = publishing({ bad: away, together: away })
  await expect(publish(jobs)).rejects.toBe(away)
  const together = [{ request_id: 'together' }, { request_id: 'another' }] as ScoreJob[]
  await expect(publish(together)).rejects.toBe(away)
  expect(refused).toEqual([])
})

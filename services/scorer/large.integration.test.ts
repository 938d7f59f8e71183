import { describe, expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { builtInScorers } from '#schemas/verdicts.ts'
import { until } from '#tests/support/until.ts'
import { detailsBy, scoreBy, scoresOf } from './testing/read-scores.ts'
import { answers, asks, sampleJob } from './testing/sample-job.ts'
import { sealer, useFixture } from './testing/use-fixture.ts'

const used = useFixture()

describe('a large body', () => {
  const large = 'The committee met on Tuesday and agreed to meet again. '.repeat(12_000)
  const counted = async (outcome: string) => {
    const { values } = (await used.running.metrics.registry
      .getSingleMetric('sluice_detector_threads_total')
      ?.get()) ?? {
      values: [],
    }
    return values.find(({ labels }) => labels['outcome'] === outcome)?.value ?? 0
  }

  test('is read in a thread, by the same detectors and custom scorers', async () => {
    // On a busy machine detectors need longer than the default.
    await used.start({ DETECTOR_TIMEOUT_MS: '60000' })
    const bodies = (padding: string) => ({
      request: asks(`This is the card that I paid for the order with: 4111 1111 1111 1111. ${padding}`),
      response: answers('Thanks.'),
    })
    const [small, big] = [sampleJob(sealer, bodies('')), sampleJob(sealer, bodies(large))]
    await used.fixture.send([small, big])
    const [one, other] = [
      await scoresOf(used.fixture, small.request_id),
      await scoresOf(used.fixture, big.request_id),
    ]
    const verdicts = (call: typeof one) =>
      call.scores.map((score) => [score.scorer_name, score.scorer_version, score.score_label]).sort()
    expect(verdicts(other)).toEqual(verdicts(one))
    expect(detailsBy('pii_detection', other, sealer).evidence).toEqual(
      detailsBy('pii_detection', one, sealer).evidence,
    )
    expect(await counted('read')).toBe(1)
  })

  test('that takes too long is given up and tried once more, what was found in time is kept, and others are read on in a new thread', async () => {
    await used.start({
      ...{ DETECTOR_TIMEOUT_MS: '1', DETECTOR_RETRY_AFTER_MS: '0', DETECTOR_INLINE_MAX_CHARS: '1000' },
    })
    const jobs = Array.from({ length: 3 }, () => sampleJob(sealer, { request: asks(large) }))
    const small = sampleJob(sealer, { request: asks('hi') })
    await used.fixture.send([...jobs, small])
    for (const { request_id } of jobs) {
      const { scores } = await scoresOf(used.fixture, request_id)
      expect(scores.map(({ scorer_name }) => scorer_name).sort()).toEqual(
        [...builtInScorers, 'destructive_tool_call'].sort(),
      )
      expect(
        scoreBy('vector_weakness', { ...(await scoresOf(used.fixture, request_id)), scores }),
      ).toMatchObject({
        score_label: 'unscored',
        reason: 'too_slow',
      })
    }
    expect(scoreBy('pii_detection', await scoresOf(used.fixture, small.request_id)).score_label).toBe('safe')
    expect(await counted('too_slow')).toBe(2 * jobs.length)
  })
})

describe('a flood of large calls that take long', () => {
  const largeChars = 1_000
  const held = (count: number) => {
    const project_id = newId('project')
    const words = 'The committee met again. '.repeat(largeChars / 20)
    return Array.from({ length: count }, (_unused, index) =>
      sampleJob(
        sealer,
        { request: asks(`[[held]] ${index} ${words}`) },
        { project_id, scorers: ['content_safety'] },
      ),
    )
  }
  const recordedOf = (jobs: readonly ScoreJob[]) => {
    const ids = new Set(jobs.map(({ request_id }) => request_id))
    return used.fixture.recorded.filter(({ request_id }) => ids.has(request_id)).length
  }
  const startWith = async (flood: readonly ScoreJob[]) => {
    await used.startJudged({
      ...{ SCORER_LARGE_CONCURRENCY: '2', DETECTOR_INLINE_MAX_CHARS: String(largeChars) },
      // Only released requests end.
      JUDGE_TIMEOUT_MS: '300000',
      // On a busy machine detectors need longer than the default, and would be tried again after minutes.
      DETECTOR_TIMEOUT_MS: '60000',
    })
    const release = used.judge.hold('[[held]]')
    await used.fixture.send(flood)
    await until(() => used.judge.requests.some(({ body }) => JSON.stringify(body).includes('[[held]]')))
    return release
  }

  test('holds up no small call, however many they are', async () => {
    // More than one scorer fetches ahead: they fill every partition ahead of the small calls.
    const flood = held(100)
    const release = await startWith(flood)
    const small = Array.from({ length: 30 }, () => sampleJob(sealer, { request: asks('hi') }))
    await used.fixture.send(small)
    await until(() => recordedOf(small) === small.length)
    expect(recordedOf(flood)).toBe(0)
    release()
    await until(() => recordedOf(flood) === flood.length)
  })

  test('holds up no large call of another project', async () => {
    const flood = held(60)
    const release = await startWith(flood)
    const others = Array.from({ length: 5 }, () =>
      sampleJob(sealer, { request: asks('The committee met again. '.repeat(largeChars / 20)) }),
    )
    await used.fixture.send(others)
    await until(() => recordedOf(others) === others.length)
    expect(recordedOf(flood)).toBe(0)
    release()
    await until(() => recordedOf(flood) === flood.length)
  })
})

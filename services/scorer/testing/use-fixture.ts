import { afterAll, afterEach, beforeAll, jest } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { startHostileJudge, type HostileJudge } from './hostile-judge.ts'
import { setScorerFixture, startScorer, type RunningScorer, type ScorerFixture } from './scorer-fixture.ts'

const key = Buffer.alloc(32, 9)

/** Seals bodies with the key of the scorers of {@link useFixture}. */
export const sealer = createSealer([{ id: 'k1', key }])
const sealing = { BODY_ENCRYPTION_KEYS: `k1:${key.toString('base64')}` }

/** What a test file has while its tests run. */
export interface Used {
  readonly fixture: ScorerFixture
  readonly judge: HostileJudge
  /** The scorer started last. */
  readonly running: RunningScorer
  /** Starts a scorer without a judge. Stopped after the test at the latest. */
  start(environment?: Readonly<Record<string, string>>): Promise<RunningScorer>
  /** Starts one with the hostile judge. */
  startJudged(environment?: Readonly<Record<string, string>>): Promise<RunningScorer>
}

/** One fixture and one judge per file, and a scorer for each test that starts one. */
export function useFixture(): Used {
  const used: { fixture?: ScorerFixture; judge?: HostileJudge } = {}
  const scorers: RunningScorer[] = []
  // Waiting for a broker on a busy machine is no failure: this only ends what hangs.
  jest.setTimeout(300_000)
  beforeAll(async () => {
    used.fixture = await setScorerFixture()
    used.judge = await startHostileJudge()
  })
  afterEach(async () => {
    for (const { service } of scorers.splice(0)) await service.stop()
  })
  afterAll(async () => {
    await used.judge?.stop()
    await used.fixture?.close()
  })
  const present = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('not started')
    return part
  }
  const start = async (environment: Readonly<Record<string, string>> = {}) => {
    const started = await startScorer(present(used.fixture), { ...sealing, ...environment })
    scorers.push(started)
    return started
  }
  return {
    get fixture() {
      return present(used.fixture)
    },
    get judge() {
      return present(used.judge)
    },
    get running() {
      return present(scorers.at(-1))
    },
    start,
    startJudged: (environment = {}) =>
      start({
        OPENAI_BASE_URL: present(used.judge).url,
        OPENAI_API_KEY: 'sk-test',
        ...environment,
      }),
  }
}

import { PermanentError } from '#runtime/errors.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'

/** Publishes jobs; one that Kafka refuses for good is passed over, so that its neighbours do not wait for it. Resolves to the refused ones. */
export type PublishEach = (jobs: readonly ScoreJob[]) => Promise<ScoreJob[]>

export function createPublishEach(
  publishJobs: (jobs: readonly ScoreJob[]) => Promise<void>,
  onRefused: (job: ScoreJob, error: PermanentError) => void,
): PublishEach {
  async function publishAlone(job: ScoreJob): Promise<ScoreJob[]> {
    try {
      await publishJobs([job])
      return []
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error
      onRefused(job, error)
      return [job]
    }
  }
  return async (jobs) => {
    if (jobs.length === 0) return []
    try {
      await publishJobs(jobs)
      return []
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error
      const refused: ScoreJob[] = []
      for (const job of jobs) refused.push(...(await publishAlone(job)))
      return refused
    }
  }
}

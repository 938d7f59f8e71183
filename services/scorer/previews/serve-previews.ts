import { PermanentError, SluiceError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Part } from '#runtime/run-together.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import type { ScorerMetrics } from '../scorer-metrics.ts'
import { createRounds } from '../rounds.ts'
import type { Preview } from '../stores/preview-store.ts'
import { runPreview, type PreviewTools } from './run-preview.ts'

/** A person waits for the answer. */
const everyMs = 1_000
const maxTries = 3
/** Rounds between deletions of old results. */
const tidyEvery = 60

interface ServingOptions extends PreviewTools {
  metrics: Pick<ScorerMetrics, 'previews'>
  log: Log
}

/** Carries out the previews that the API ordered, one at a time in each process. */
export function servePreviews(options: ServingOptions): Part {
  const { store, clock, log } = options
  let round = 0
  return createRounds({
    everyMs,
    clock,
    log,
    failure: 'previews of scorers are not served',
    async work(signal) {
      if (round++ % tidyEvery === 0) await store.tidy()
      const preview = await store.claim()
      if (preview === undefined) return false
      await serveOne(preview, options, signal)
      return true
    },
  })
}

async function serveOne(preview: Preview, options: ServingOptions, signal: AbortSignal): Promise<void> {
  const { store, sealer, metrics, log } = options
  try {
    if (preview.tries > maxTries)
      throw new PermanentError('PREVIEW_IMPOSSIBLE', `given up after ${maxTries} tries`)
    const { report, hits } = await runPreview(preview, options, signal)
    const identity = sealedIdentity(preview.projectId, preview.id, 'scorer_preview')
    await store.finish(preview.id, report, sealer.seal(Buffer.from(JSON.stringify(hits)), identity))
    metrics.previews.inc({ outcome: 'done' })
  } catch (error) {
    if (signal.aborted) return store.release(preview.id)
    // Postgres is away: after the lease somebody takes it again.
    if (error instanceof SluiceError && error.retry === 'later') throw error
    const isExpected = error instanceof PermanentError
    if (!isExpected) log.error({ err: error, preview_id: preview.id }, 'a preview of a scorer failed')
    metrics.previews.inc({ outcome: 'failed' })
    await store.fail(preview.id, isExpected ? error.message : 'a defect, logged by the scorer')
  }
}

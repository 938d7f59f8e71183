import { parseJson } from '#capture/json.ts'
import { textsOfCall } from '#capture/texts-of-call.ts'
import { PermanentError } from '#runtime/errors.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedPart } from '#schemas/sealed-bytes.ts'
import type { OneProject, ProjectDatabase } from '../stores/project-database.ts'
import { createRequestStore, type StoredBodies } from '../stores/request-store.ts'
import { readReviews, type Review, type ReviewFilters } from '../stores/review-store.ts'

const pageRows = 50

/**
 * Reviewed calls as samples (evals/datasets/README.md), one a line. Read page by page: no transaction waits
 * for the client.
 */
export async function* exportReviews(
  database: ProjectDatabase<OneProject>,
  filters: ReviewFilters,
  sealer: Sealer,
): AsyncGenerator<string> {
  const requests = createRequestStore(database)
  let last: Review | undefined
  do {
    const reviews = await readReviews(database, filters, last, pageRows)
    for (const review of reviews) {
      const bodies = await requests.findBodies(review.request_id)
      if (bodies !== undefined) yield `${JSON.stringify(sampleOf(review, bodies, sealer))}\n`
    }
    last = reviews[pageRows - 1]
  } while (last !== undefined)
}

function sampleOf(review: Review, bodies: StoredBodies, sealer: Sealer): object {
  return {
    id: review.score_id,
    set: 'reviews',
    scorer: review.scorer_name,
    label: review.expected_label === 'unsafe' ? 1 : 0,
    ...textsOf(review, bodies, sealer),
    kind: `${review.score_label}, ${review.agrees ? 'agreed' : 'disagreed'}`,
  }
}

/** A call whose bodies cannot be opened or parsed says so in its line and does not stop the others. */
function textsOf(review: Review, bodies: StoredBodies, sealer: Sealer): object {
  const open = (part: 'request' | 'response', name: SealedPart): unknown => {
    const sealed = bodies[part]
    if (sealed === null) return null
    const identity = sealedIdentity(review.project_id, review.request_id, name)
    const body = parseJson(sealer.open(sealed, identity).toString('utf8'))
    if (body === undefined) throw new PermanentError('BODY_NOT_JSON', 'one is no JSON, or has too many parts')
    return body
  }
  try {
    const texts = textsOfCall(open('request', 'request_body'), open('response', 'response_body'))
    return {
      prompt: texts.prompt,
      response: texts.answer,
      context: texts.context.join('\n'),
      system: texts.system,
    }
  } catch (error) {
    if (error instanceof PermanentError) return { error: `the bodies cannot be read: ${error.message}` }
    throw error
  }
}

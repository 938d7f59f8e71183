import { textsOfCall } from '#capture/texts-of-call.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { sealedIdentity, type SealedPart } from '#schemas/sealed-bytes.ts'
import type { OneProject, ProjectDatabase } from '../stores/project-database.ts'
import { createRequestStore, type StoredBodies } from '../stores/request-store.ts'
import { listReviews, type Review, type ReviewFilters } from '../stores/review-store.ts'

const pageRows = 50

/** Reviewed calls as samples (evals/datasets/README.md), a line each; by cursor, so that nothing stays open while a client reads. */
export async function* exportReviews(
  database: ProjectDatabase<OneProject>,
  filters: ReviewFilters,
  sealer: Sealer,
): AsyncGenerator<string> {
  const requests = createRequestStore(database)
  let after: string | null = null
  for (;;) {
    const paging = { limit: pageRows, offset: 0, after, page: 1, form: 'items' } as const
    const { items } = await listReviews(database, filters, paging)
    for (const review of items.slice(0, pageRows)) {
      const bodies = await requests.findBodies(review.request_id)
      if (bodies !== undefined) yield `${JSON.stringify(sampleOf(review, bodies, sealer))}\n`
    }
    const last = items[pageRows - 1]
    if (items.length <= pageRows || last === undefined) return
    after = last.id
  }
}

function sampleOf(review: Review, bodies: StoredBodies, sealer: Sealer): object {
  const open = (part: 'request' | 'response', name: SealedPart): unknown => {
    const sealed = bodies[part]
    if (sealed === null) return null
    return JSON.parse(
      sealer.open(sealed, sealedIdentity(review.project_id, review.request_id, name)).toString('utf8'),
    )
  }
  const texts = textsOfCall(open('request', 'request_body'), open('response', 'response_body'))
  return {
    id: review.score_id,
    set: 'reviews',
    scorer: review.scorer_name,
    label: review.expected_label === 'unsafe' ? 1 : 0,
    prompt: texts.prompt,
    response: texts.answer,
    context: texts.context.join('\n'),
    system: texts.system,
    kind: `${review.score_label}, ${review.agrees ? 'agreed' : 'disagreed'}`,
  }
}

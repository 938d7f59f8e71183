import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import { scoreLabels } from '#schemas/verdicts.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { invalidInput, found } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { refuseEndBeforeStart } from '../http/time-range.ts'
import { mayReadContent } from '../people/authenticate-people.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { readAgreement } from '../stores/review-counts.ts'
import { listReviews, reviewerKinds, saveReview } from '../stores/review-store.ts'
import { createScoreStore, type StoredScore } from '../stores/score-store.ts'
import type { StreamPermits } from './stream-permits.ts'
import { exportReviews } from './export-reviews.ts'

const expectedLabels = ['safe', 'unsafe'] as const
const reviewSchema = z.object({
  id: z.string(),
  project_id: z.string(),
  request_id: z.string(),
  score_id: z.string(),
  scorer_name: z.string(),
  scorer_version: z.string(),
  score_label: z.enum(scoreLabels).describe('The label of the score when it was reviewed.'),
  expected_label: z.enum(expectedLabels),
  agrees: z.boolean(),
  reviewer: z.string(),
  reviewer_kind: z
    .enum(reviewerKinds)
    .describe("A user's login, or a name chosen by the key or the operator."),
  reason: z.string().nullable().describe('Null for viewers: it may quote content.'),
  created_at: z.iso.datetime(),
})
const count = z.number().int()
const agreementSchema = z.object({
  scorers: z.array(
    z.object({
      scorer_name: z.string(),
      reviews: count,
      agreed: count,
      disagreed: count,
      false_alarms: count.describe('`unsafe` that should have been `safe`.'),
      missed: count.describe('`safe` that should have been `unsafe`.'),
    }),
  ),
})
const projectField = {
  project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
}
const filterFields = {
  ...projectField,
  request_id: idField('request').optional(),
  scorer_name: textField(100).optional(),
  reviewer: textField(200).optional(),
  agrees: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  start: timeField.optional().describe('Start of the range of review times.'),
  end: timeField.optional().describe('End of the range, exclusive.'),
}

export interface ReviewRoutesOptions {
  databases: ProjectDatabases
  sealer: Sealer
  clock: Clock
  permits: StreamPermits
}

/** Reviews: opinions of people on verdicts, by which scorers are measured. */
export function reviewRoutes(options: ReviewRoutesOptions): Route[] {
  return [postRoute(options), listRoute(options), agreementRoute(options), exportRoute(options)]
}

const common = { access: 'read', tag: 'Reviews' } as const

function postRoute({ databases, clock }: ReviewRoutesOptions): Route {
  return route({
    ...common,
    access: 'all',
    method: 'post',
    path: '/api/reviews',
    summary:
      "Agree or disagree with a scorer's verdict on a request. Replaces the reviewer's earlier review of it.",
    query: z.strictObject(projectField),
    body: z.strictObject({
      request_id: idField('request'),
      scorer_name: textField(100),
      agrees: z.boolean(),
      expected_label: z
        .enum(expectedLabels)
        .optional()
        .describe('Required for an `unscored` score; otherwise it follows.'),
      reviewer: textField(200)
        .default('unknown')
        .describe('The name of the reviewer; users of the dashboard have their login.'),
      reason: textField(4_000).optional(),
    }),
    reply: { status: 201, description: 'The review.', schema: reviewSchema },
    problems: { 404: 'There is no such score.' },
    async handle({ principal, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const scores = await createScoreStore(database).ofRequest(body.request_id)
      const score = found(
        scores.find(({ scorer_name }) => scorer_name === body.scorer_name),
        `score by ${body.scorer_name} of request`,
        body.request_id,
      )
      const review = await saveReview(
        database,
        score,
        {
          id: newId('review', clock.now()),
          expected_label: expectedOf(body, score.score_label),
          agrees: body.agrees,
          reviewer_kind: principal.kind,
          reviewer: principal.kind === 'person' ? principal.person.login : body.reviewer,
          reason: body.reason ?? null,
        },
        clock.now(),
      )
      return { status: 201, json: found(review, 'project', database.scope.projectId) }
    },
  })
}

function expectedOf(
  { agrees, expected_label }: { agrees: boolean; expected_label?: 'safe' | 'unsafe' | undefined },
  label: StoredScore['score_label'],
): 'safe' | 'unsafe' {
  if (label === 'unscored') {
    if (expected_label !== undefined) return expected_label
    throw invalidInput([{ path: 'expected_label', message: 'is required: the score is unscored' }])
  }
  const expected = agrees ? label : label === 'safe' ? 'unsafe' : 'safe'
  if (expected_label === undefined || expected_label === expected) return expected
  throw invalidInput([{ path: 'expected_label', message: `contradicts agrees: the score is ${label}` }])
}

function listRoute({ databases }: ReviewRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/reviews',
    summary: 'List reviews, newest first.',
    query: z.strictObject({ ...pagingFields, ...filterFields }),
    polled: true,
    reply: { status: 200, description: 'Reviews.', schema: listOf(reviewSchema) },
    async handle({ principal, query }) {
      refuseEndBeforeStart(query)
      const paging = readPaging(query, 'review')
      const database = databases.ofOne(principal, query.project_id)
      const { items, counted } = await listReviews(database, query, paging)
      // Reasons quote content.
      const shown = mayReadContent(principal) ? items : items.map((item) => ({ ...item, reason: null }))
      return taggedJson(envelope(paging, shown, counted))
    },
  })
}

function agreementRoute({ databases }: ReviewRoutesOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/reviews/agreement',
    summary: 'How often reviewers agree with each scorer.',
    query: z.strictObject(filterFields),
    polled: true,
    reply: { status: 200, description: 'Counts by scorer.', schema: agreementSchema },
    async handle({ principal, query }) {
      refuseEndBeforeStart(query)
      const database = databases.ofOne(principal, query.project_id)
      return taggedJson({ scorers: await readAgreement(database, query) })
    },
  })
}

function exportRoute({ databases, sealer, clock, permits }: ReviewRoutesOptions): Route {
  return route({
    ...common,
    access: 'all',
    method: 'get',
    path: '/api/reviews/export',
    summary:
      'Reviewed calls as labelled samples in the format of evals/datasets, one a line, oldest review first. Calls with erased bodies are left out; unreadable ones have an `error` instead of texts.',
    query: z.strictObject(filterFields),
    reply: { status: 200, description: 'JSON lines.', contentTypes: ['application/x-ndjson'] },
    problems: { 429: 'Too many exports are in progress.' },
    async handle({ principal, query }) {
      refuseEndBeforeStart(query)
      const database = databases.ofOne(principal, query.project_id)
      const { projectId } = database.scope
      const chunks = await permits.stream(projectId, async () => {
        await database.noteView({ action: 'reviews.exported', subject: projectId }, clock.now())
        return exportReviews(database, query, sealer)
      })
      return {
        headers: { 'content-disposition': 'attachment; filename="reviews.jsonl"' },
        stream: { contentType: 'application/x-ndjson', chunks },
      }
    },
  })
}

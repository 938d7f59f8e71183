import type { Pool } from 'pg'
import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { newId } from '#schemas/ids.ts'
import { idField, textField } from '#http/fields.ts'
import { found, invalidInput, Problem } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { changeFindings, ownersBefore, undoChange, type ChangedFindings } from '../stores/change-findings.ts'
import { addComment, maxComments } from '../stores/finding-parts.ts'
import { listOwners } from '../stores/find-owner.ts'
import { findFinding } from '../stores/finding-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import {
  author,
  bulkSchema,
  changedSchema,
  changeFields,
  commentSchema,
  undoneSchema,
} from './finding-schemas.ts'
import { offerSuppression } from './offer-suppression.ts'
import { changeBy, readFindingChange, readLogins } from './read-finding-change.ts'

interface FindingChangeOptions {
  databases: ProjectDatabases
  /** Reads users, whom a project cannot. */
  operatorPool: Pool
  dashboardUrl: string
  clock: Clock
}

const maxBulk = 100
const projectQuery = z.strictObject({
  project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
})
const common = { access: 'all', tag: 'Findings', query: projectQuery } as const
const one = { params: z.object({ id: idField('finding') }) } as const

/** What people do with findings. */
export function findingChangeRoutes(options: FindingChangeOptions): Route[] {
  const changes = [bulkRoute(options), undoRoute(options), changeRoute(options), commentRoute(options)]
  return [ownersRoute(options), ...changes]
}

function ownersRoute({ databases, operatorPool }: FindingChangeOptions): Route {
  return route({
    ...common,
    access: 'read',
    method: 'get',
    path: '/api/findings/owners',
    summary: 'The users to whom findings of the project can be assigned, by login.',
    reply: {
      status: 200,
      description: 'The first 500.',
      schema: z.object({
        owners: z.array(z.object({ id: z.string(), login: z.string(), name: z.string() })),
      }),
    },
    async handle({ principal, query }) {
      const { scope } = databases.ofOne(principal, query.project_id)
      return { json: { owners: await listOwners(operatorPool, scope.projectId) } }
    },
  })
}

function changeRoute({ databases, operatorPool, dashboardUrl, clock }: FindingChangeOptions): Route {
  return route({
    ...common,
    ...one,
    method: 'patch',
    path: '/api/findings/{id}',
    summary: "Change a finding's state or owner.",
    body: z.strictObject(changeFields),
    reply: { status: 200, description: 'The finding, and the change.', schema: changedSchema },
    problems: { 404: 'There is no such finding.' },
    async handle({ principal, params, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const nowMs = clock.now()
      const change = await readFindingChange(operatorPool, database.scope.projectId, body, nowMs)
      const changeId = newId('findingChange', nowMs)
      const by = changeBy(principal, body.author)
      const options = { changeId, by, nowMs, dashboardUrl }
      const { skipped } = await changeFindings(database, [params.id], change, options)
      const finding = found(await findFinding(database, params.id, nowMs), 'finding', params.id)
      const [refused] = skipped
      if (refused !== undefined)
        throw invalidInput([{ path: 'state', message: `cannot follow ${refused.state}: open it first` }])
      const suppression =
        body.state === 'false_alarm' ? await offerSuppression(database, finding, nowMs) : null
      return { json: { ...finding, change_id: changeId, suppression } }
    },
  })
}

function bulkRoute({ databases, operatorPool, dashboardUrl, clock }: FindingChangeOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/findings/bulk',
    summary: 'Change the state or owner of up to 100 findings, in one transaction.',
    body: z.strictObject({
      ids: z.array(idField('finding')).min(1).max(maxBulk),
      ...changeFields,
    }),
    reply: { status: 200, description: 'What became of each.', schema: bulkSchema },
    async handle({ principal, query, body: { ids, ...body } }) {
      const database = databases.ofOne(principal, query.project_id)
      const nowMs = clock.now()
      const change = await readFindingChange(operatorPool, database.scope.projectId, body, nowMs)
      const changeId = newId('findingChange', nowMs)
      const options = { changeId, by: changeBy(principal, body.author), nowMs, dashboardUrl }
      const changed = await changeFindings(database, [...new Set(ids)], change, options)
      return { json: presentBulk(changeId, changed) }
    },
  })
}

function undoRoute({ databases, operatorPool, dashboardUrl, clock }: FindingChangeOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/findings/changes/{change_id}/undo',
    summary: 'Undo a change of findings that nothing has changed since. The undoing can be undone too.',
    params: z.object({ change_id: idField('findingChange') }),
    body: z.strictObject({ author }),
    reply: { status: 200, description: 'What became of each finding.', schema: undoneSchema },
    problems: { 404: 'There is no such change, or it changed nothing.' },
    async handle({ principal, params, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const nowMs = clock.now()
      const changeId = newId('findingChange', nowMs)
      const by = changeBy(principal, body.author)
      const owners = await ownersBefore(database, params.change_id)
      const logins = await readLogins(operatorPool, database.scope.projectId, owners)
      const options = { changeId, by, nowMs, dashboardUrl }
      const undone = await undoChange(database, params.change_id, logins, options)
      const changed = found(undone, 'change', params.change_id)
      return { json: { ...presentBulk(changeId, changed), without_owner: changed.withoutOwner } }
    },
  })
}

const presentBulk = (changeId: string, { done, skipped }: ChangedFindings) => ({
  ...{ change_id: changeId, changed: done, skipped },
})

function commentRoute({ databases, clock }: FindingChangeOptions): Route {
  return route({
    ...common,
    ...one,
    method: 'post',
    path: '/api/findings/{id}/comments',
    summary: 'Comment on a finding.',
    body: z.strictObject({ text: textField(4_000), author }),
    reply: { status: 201, description: 'The comment.', schema: commentSchema },
    problems: {
      404: 'There is no such finding.',
      409: `The finding has ${maxComments} comments.`,
    },
    async handle({ principal, params, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const nowMs = clock.now()
      const by = changeBy(principal, body.author)
      const input = { id: newId('findingComment', nowMs), by, text: body.text }
      const comment = await addComment(database, params.id, input, nowMs)
      if (comment !== undefined) return { status: 201, json: comment }
      found(await findFinding(database, params.id, nowMs), 'finding', params.id)
      throw new Problem(409, 'FINDING_COMMENTS_TOO_MANY', `the finding has ${maxComments} comments`)
    },
  })
}

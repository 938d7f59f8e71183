import { apiActivityOf, type AuditRow } from '#services/notifier/audit/render-api-activity.ts'
import type { Notice } from '#services/notifier/destinations/notice.ts'
import { renderJiraComment, renderJiraIssue } from '#services/notifier/destinations/render-jira.ts'
import { ocsfOf } from '#services/notifier/destinations/render-ocsf.ts'
import { renderPagerDuty } from '#services/notifier/destinations/render-pagerduty.ts'
import { renderSlack } from '#services/notifier/destinations/render-slack.ts'
import { renderTeams } from '#services/notifier/destinations/render-teams.ts'
import type { Rendered } from '#services/notifier/destinations/rendered.ts'
import { hostileSnippets } from '#services/notifier/destinations/testing/hostile-snippets.ts'
import {
  hostileNotice,
  jira,
  noticeWith,
  sender,
  url,
} from '#services/notifier/destinations/testing/sample-notices.ts'
import { selectableEvents } from '#schemas/event-raised.ts'
import { idToUuid, newId } from '#schemas/ids.ts'

/** Payloads by kind, as they are sent: of every event, and with every hostile snippet. */
export type Payloads = Record<'slack' | 'teams' | 'pagerduty' | 'jira' | 'ocsf' | 'audit', object[]>

export function samplePayloads(): Payloads {
  const notices = [
    ...selectableEvents.map((event) => noticeWith(event)),
    ...hostileSnippets.map(hostileNotice),
  ]
  const of = (render: (notice: Notice) => Rendered) => notices.map((notice) => sent(render(notice).body))
  const token = { token: 't' }
  const issues = of((notice) => renderJiraIssue(notice, jira, token)) as { fields: { description: object } }[]
  const comments = of((notice) => renderJiraComment(notice, jira, token, 'SEC-1')) as { body: object }[]
  return {
    slack: of((notice) => renderSlack(notice, { url })),
    teams: of((notice) => renderTeams(notice, { url })),
    pagerduty: of((notice) => renderPagerDuty(notice, { url }, { routing_key: 'r'.repeat(32) })),
    jira: [...issues.map(({ fields }) => fields.description), ...comments.map(({ body }) => body)],
    ocsf: notices.map((notice) => sent(JSON.stringify(ocsfOf(notice, sender)))),
    audit: auditRows().map((row) => sent(JSON.stringify(apiActivityOf(row, sender)))),
  }
}

function sent(body: Buffer | string): object {
  return JSON.parse(String(body)) as object
}

const actions = ['key.created', 'request.content_viewed', 'webhook.changed', 'person.sign_in_refused']

function auditRows(): AuditRow[] {
  const id = idToUuid(newId('audit'))
  const actors = [
    { actor_kind: 'person', actor_id: idToUuid(newId('person')), actor_name: 'ada', address: '192.0.2.7' },
    { actor_kind: 'key', actor_id: idToUuid(newId('key')), actor_name: null, address: null },
    { actor_kind: 'operator', actor_id: null, actor_name: null, address: null },
  ] as const
  return actors.flatMap((actor) =>
    actions.map((action) => ({
      ...{ id, at: new Date(), action, ...actor },
      subject: actor.actor_id === null ? null : 'pii_detection',
      project_id: actor.actor_id === null ? null : idToUuid(newId('project')),
      detail: action === 'webhook.changed' ? { enabled: true, url } : null,
    })),
  )
}

import { testEventData } from '#services/api/webhooks/test-event.ts'
import { selectableEvents, type EventName, type RaisedEvent } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import { noticeOf, type Notice } from '../notice.ts'

export const url = 'https://receiver.example/hook'
export const jira = {
  url: 'https://team.atlassian.net/',
  user: 'bot@example.com',
  project_key: 'SEC',
  issue_type: 'Bug',
}
export const mail = {
  host: 'mail.example',
  port: 587,
  tls: 'starttls' as const,
  from: 'sluice@example.com',
  to: ['soc@example.com'],
}
export const syslog = {
  host: 'siem.example',
  port: 6_514,
  tls: true,
  format: 'text' as const,
  facility: 13,
  app_name: 'sluice',
}
export const sender = { host: 'node-1', version: '0.2.0' }

/** What destinations say of an event: the data of its test event, and `fields`. */
export function noticeWith(event: EventName, fields: Record<string, unknown> = {}, withText = true): Notice {
  const example = selectableEvents.find((one) => one === event) ?? 'threat_detected'
  const nowMs = 1_795_000_000_000
  const data = {
    ...testEventData(example, { projectId: newId('project'), dashboardUrl: 'https://sluice.example', nowMs }),
    ...fields,
  }
  const raised: RaisedEvent = {
    id: newId('event', nowMs),
    event,
    project_id: newId('project'),
    created_at: nowMs,
    data: Buffer.from(JSON.stringify(data)),
    content: null,
    content_id: null,
    webhook_id: null,
  }
  return noticeOf(raised, { fields: data, json: () => JSON.stringify(data) }, withText)
}

/** A threat whose every field that a caller writes is `text`. */
export function hostileNotice(text: string): Notice {
  const snippets = { prompt_snippet: text, completion_snippet: text }
  return noticeWith('threat_detected', { agent_name: text, tool_name: text, ...snippets })
}

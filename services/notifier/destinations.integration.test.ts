import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Service } from '#runtime/service.ts'
import type { EventName, RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { eventually } from '#tests/support/until.ts'
import { lastErrorOf, openMail, openSyslog, openWeb, waitsMs } from './testing/destination-receivers.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from './testing/notifier-fixture.ts'
import { raisedEvent } from './testing/sample-records.ts'

let fixture: NotifierFixture
let service: Service
const [web, mail, syslog] = [await openWeb(), await openMail(), await openSyslog()]

beforeAll(async () => {
  fixture = await createNotifierFixture()
  const allowed = [web.port, mail.port, syslog.port].map((port) => `plain:127.0.0.1:${port}`)
  service = (
    await startNotifier(fixture, { WEBHOOK_ALLOW_INSECURE: '', DESTINATION_ALLOW: allowed.join(',') })
  ).service
})
afterAll(async () => {
  await service.stop()
  await service.done
  await fixture.close()
  await Promise.all([web.close(), mail.close(), syslog.close()])
})

function raised(
  projectId: string,
  event: EventName,
  fields: object = {},
  createdAtMs = Date.now(),
): RaisedEvent {
  const finding = { finding_id: newId('finding'), scorer_name: 'pii_detection', severity: 'high', count: 1 }
  return raisedEvent({
    project_id: projectId,
    event,
    created_at: createdAtMs,
    fields: { ...finding, agent_name: 'support-agent', ...fields },
    content: null,
    content_id: null,
  })
}

const routing_key = 'r'.repeat(32)

describe('every kind delivers', () => {
  test.each([
    ['slack', '/slack', () => ({ credentials: { url: web.url('/slack') } }), 'blocks'],
    ['teams', '/teams', () => ({ credentials: { url: web.url('/teams') } }), 'attachments'],
    [
      'pagerduty',
      '/pagerduty',
      () => ({ settings: { url: web.url('/pagerduty') }, credentials: { routing_key } }),
      'dedup_key',
    ],
    [
      'splunk_hec',
      '/splunk',
      () => ({ settings: { url: web.url('/splunk') }, credentials: { token: 'hec-token' } }),
      'sourcetype',
    ],
    [
      'json',
      '/json',
      () => ({
        settings: { url: web.url('/json'), template: '{"what": "{{title}}"}' },
        credentials: { header: { name: 'X-Api-Key', value: 'k' } },
      }),
      'what',
    ],
    ['ocsf', '/ocsf', () => ({ settings: { url: web.url('/ocsf') } }), 'class_uid'],
  ] as const)('%s', async (kind, path, given, field) => {
    const projectId = await fixture.addProject()
    const id = await fixture.addDestination({ projectId, kind, ...given() })
    const event = raised(projectId, 'finding_opened')
    await fixture.raise(event)
    await fixture.settled(event, id, 'delivered')
    const [request, ...others] = web.at(path)
    expect(request?.body).toHaveProperty(field)
    expect(others).toEqual([])
    if (kind === 'splunk_hec') expect(request?.headers.authorization).toBe('Splunk hec-token')
    if (kind === 'json') expect(request?.headers['x-api-key']).toBe('k')
  })

  test('e-mail', async () => {
    const projectId = await fixture.addProject()
    const settings = {
      host: '127.0.0.1',
      port: mail.port,
      tls: 'none',
      from: 'sluice@example.com',
      to: ['soc@example.com'],
    }
    const id = await fixture.addDestination({ projectId, kind: 'email', settings })
    const event = raised(projectId, 'finding_opened')
    await fixture.raise(event)
    await fixture.settled(event, id, 'delivered')
    const sent = mail.mails.find(({ text }) => text.includes(event.id))
    expect(sent).toMatchObject({ from: 'sluice@example.com', to: ['soc@example.com'] })
    expect(sent?.text).toMatch(/^Message-ID: <evt_\w+@example\.com>/m)

    const refused = await fixture.addDestination({
      projectId,
      kind: 'email',
      settings: { ...settings, to: ['nobody@example.com'] },
    })
    await fixture.raise(raised(projectId, 'finding_opened', {}, Date.now()))
    await eventually(
      () => lastErrorOf(fixture.pool, refused),
      (error) => error === 'the mail server answered 550',
    )
  })

  test('syslog, framed by octets', async () => {
    const projectId = await fixture.addProject()
    const settings = { host: '127.0.0.1', port: syslog.port, tls: false }
    const id = await fixture.addDestination({ projectId, kind: 'syslog', settings })
    const event = raised(projectId, 'finding_opened')
    await fixture.raise(event)
    await fixture.settled(event, id, 'delivered')
    const stream = syslog.streams.find((text) => text.includes(event.id)) ?? ''
    const [, length, message = ''] = /^(\d+) (.*)$/s.exec(stream) ?? []
    expect(Buffer.byteLength(message)).toBe(Number(length))
    expect(message).toMatch(/^<107>1 /)
  })
})

test('Jira gets one issue for a finding, and comments on it', async () => {
  const issues: { key: string; labels: string[]; comments: unknown[] }[] = []
  web.answers.set('/rest/api/3/search/jql', ({ jql }) => {
    const issue = issues.find(({ labels }) => String(jql).includes(`"${labels[1]}"`))
    const found =
      issue === undefined ? [] : [{ key: issue.key, fields: { comment: { comments: issue.comments } } }]
    return { status: 200, body: { issues: found } }
  })
  web.answers.set('/rest/api/3/issue', ({ fields }) => {
    const { labels } = fields as { labels: string[] }
    issues.push({ key: 'SEC-1', labels, comments: [] })
    return { status: 201, body: { key: 'SEC-1' } }
  })
  web.answers.set('/rest/api/3/issue/SEC-1/comment', (body) => {
    issues[0]?.comments.push(body)
    return { status: 201 }
  })
  const projectId = await fixture.addProject()
  const id = await fixture.addDestination({
    projectId,
    kind: 'jira',
    settings: { url: web.url(''), user: 'bot@example.com', project_key: 'SEC' },
    credentials: { token: 't' },
  })
  const finding_id = newId('finding')
  const opened = raised(projectId, 'finding_opened', { finding_id }, Date.now() - 2_000)
  const resolved = raised(projectId, 'finding_resolved', { finding_id, state: 'resolved' }, Date.now())
  await fixture.raise(opened, resolved)
  await fixture.settled(opened, id, 'delivered')
  await fixture.settled(resolved, id, 'delivered')
  expect(issues).toHaveLength(1)
  expect(JSON.stringify(issues[0]?.comments)).toContain(resolved.id)
  expect(issues[0]?.comments).toHaveLength(1)
})

test('an incident is resolved only after it was triggered, though its first attempts fail', async () => {
  let failures = 0
  web.answers.set('/ordered', () => ({ status: failures++ < 2 ? 500 : 202 }))
  const projectId = await fixture.addProject()
  const id = await fixture.addDestination({
    projectId,
    kind: 'pagerduty',
    settings: { url: web.url('/ordered') },
    credentials: { routing_key },
  })
  const finding_id = newId('finding')
  const opened = raised(projectId, 'finding_opened', { finding_id }, Date.now() - 2_000)
  const resolved = raised(projectId, 'finding_resolved', { finding_id, state: 'resolved' }, Date.now())
  await fixture.raise(resolved, opened)
  await fixture.settled(resolved, id, 'delivered')
  const actions = web.at('/ordered').map(({ body }) => body['event_action'])
  expect(actions).toEqual(['trigger', 'trigger', 'trigger', 'resolve'])
})

test('it waits as long as the receiver asks, and goes on after the third retry', async () => {
  let asked = 0
  web.answers.set('/busy', () =>
    asked++ === 0 ? { status: 429, headers: { 'retry-after': '3600' } } : { status: 503 },
  )
  const projectId = await fixture.addProject()
  const kind = 'slack'
  const id = await fixture.addDestination({ projectId, kind, credentials: { url: web.url('/busy') } })
  const event = raised(projectId, 'finding_opened')
  await fixture.raise(event)
  const dueIn = () => waitsMs(fixture.pool, id)
  await eventually(dueIn, (ms) => ms !== undefined && ms > 3_000_000)
  for (const attempts of [2, 5]) {
    await fixture.pool.query('update webhook_waiting set due_at = now() where webhook_id = $1', [
      idToUuid(id),
    ])
    await eventually(
      () => fixture.delivery(event, id),
      (delivery) => delivery?.attempt_count === attempts,
    )
    if (attempts === 2) continue
    await eventually(dueIn, (ms) => ms !== undefined && ms > 60_000)
  }
  expect((await fixture.delivery(event, id))?.status).toBe('retrying')
})

test('no more go out in a minute than its limit, and the others wait without an attempt', async () => {
  const projectId = await fixture.addProject()
  const id = await fixture.addDestination({
    projectId,
    kind: 'slack',
    credentials: { url: web.url('/limited') },
    maxPerMinute: 2,
  })
  const events = Array.from({ length: 6 }, () => raised(projectId, 'finding_opened'))
  await fixture.raise(...events)
  await eventually(
    () => Promise.resolve(web.at('/limited').length),
    (count) => count >= 2,
  )
  await eventually(
    async () =>
      (await fixture.pool.query('select from webhook_waiting where webhook_id = $1', [idToUuid(id)]))
        .rowCount,
    (count) => count === 6 - web.at('/limited').length,
  )
  const { rows } = await fixture.pool.query<{ sent: number }>(
    'select sent from destination_minutes where webhook_id = $1',
    [idToUuid(id)],
  )
  expect(rows.every(({ sent }) => sent <= 2)).toBe(true)
  expect(rows.reduce((sum, { sent }) => sum + sent, 0)).toBe(web.at('/limited').length)
  const failed = await fixture.pool.query(
    `select from webhook_deliveries where webhook_id = $1 and status in ('retrying', 'failed')`,
    [idToUuid(id)],
  )
  expect(failed.rowCount).toBe(0)
})

test('an address that the operator does not list is not contacted', async () => {
  const projectId = await fixture.addProject()
  const id = await fixture.addDestination({
    projectId,
    kind: 'syslog',
    settings: { host: '127.0.0.1', port: 1, tls: false },
  })
  await fixture.raise(raised(projectId, 'finding_opened'))
  await eventually(
    () => lastErrorOf(fixture.pool, id),
    (error) => error?.includes('DESTINATION_ALLOW') === true,
  )
})

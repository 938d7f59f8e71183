import { describe, expect, test } from '@jest/globals'
import { selectableEvents } from '#schemas/event-raised.ts'
import { newId } from '#schemas/ids.ts'
import { cut, disarm } from './disarm.ts'
import type { Notice } from './notice.ts'
import { renderEmail } from './render-email.ts'
import { renderJiraComment, renderJiraIssue, renderJiraSearch } from './render-jira.ts'
import { unknownFields } from '#schemas/destination-template.ts'
import { renderJson, renderOcsf, renderSplunk } from './render-json.ts'
import { renderPagerDuty } from './render-pagerduty.ts'
import { renderSlack } from './render-slack.ts'
import { renderSyslog } from './render-syslog.ts'
import { renderTeams } from './render-teams.ts'
import { hostileSnippets } from './testing/hostile-snippets.ts'
import { hostileNotice, jira, mail, noticeWith, sender, syslog, url } from './testing/sample-notices.ts'

const hostile = hostileSnippets.map((text) => [text.slice(0, 30), hostileNotice(text)] as const)

/** Every string of a JSON payload. */
function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}

const parsed = (body: Buffer) => JSON.parse(body.toString('utf8')) as Record<string, unknown>

/** Formats that people read: nothing of a caller may be a link, a mention or a control character there. */
const shown: readonly (readonly [string, (notice: Notice) => string[]])[] = [
  ['slack', (notice) => stringsIn(parsed(renderSlack(notice, { url }).body))],
  ['teams', (notice) => stringsIn(parsed(renderTeams(notice, { url }).body))],
  ['jira', (notice) => stringsIn(parsed(renderJiraIssue(notice, jira, { token: 't' }).body))],
  ['pagerduty', (notice) => stringsIn(parsed(renderPagerDuty(notice, { url }, { routing_key: 'r' }).body))],
  ['email', (notice) => [renderEmail(notice, mail).subject, renderEmail(notice, mail).text]],
]

describe.each(hostile)('hostile text %s', (_name, notice) => {
  test.each(shown)('is plain text in %s', (_kind, render) => {
    const own = new Set([notice.link, url, jira.url, 'http://adaptivecards.io/schemas/adaptive-card.json'])
    for (const text of render(notice)) {
      if (own.has(text)) continue
      const rest = text
        .replaceAll(notice.link ?? '-', '')
        .replace(/sluice@example\.com|soc@example\.com/g, '')
      expect(rest).not.toMatch(/:\/\/|@|\bwww\.|javascript:|mailto:|\u202e|(?![\n\t])\p{Cc}/u)
    }
  })

  test('cannot begin markup in Slack', () => {
    for (const text of stringsIn(parsed(renderSlack(notice, { url }).body)))
      if (!text.startsWith('https://')) expect(text).not.toMatch(/[<>]/)
  })

  test('adds no header and no line to a mail', () => {
    const { subject, headers, messageId } = renderEmail(notice, mail)
    for (const value of [subject, messageId, ...Object.values(headers)]) expect(value).not.toMatch(/[\r\n]/)
  })

  test('stays within one syslog message of RFC 5424', () => {
    const message = renderSyslog(notice, syslog, sender).toString('utf8')
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(8_000)
    expect(message).toMatch(
      /^<\d{1,3}>1 \S+ node-1 sluice \d+ threat_detected \[sluice@32473( [a-zA-Z]+="(?:[^"\\\]]|\\["\\\]])*")+\] \ufeff[^\p{Cc}]*$/u,
    )
  })

  test('leaves OCSF over syslog whole JSON within the same bound', () => {
    const message = renderSyslog(notice, { ...syslog, format: 'ocsf' }, sender)
    expect(message.length).toBeLessThanOrEqual(8_000)
    const json = message.subarray(message.indexOf('\ufeff') + 3)
    expect(parsed(json)).toMatchObject({ class_uid: 2004, metadata: { uid: notice.id } })
  })

  test.each([
    ['json', (one: Notice) => renderJson(one, { url }, {}).body],
    ['ocsf', (one: Notice) => renderOcsf(one, { url }, {}, sender).body],
    ['splunk', (one: Notice) => renderSplunk(one, { url, sourcetype: 's' }, { token: 't' }).body],
  ] as const)('comes back unchanged from %s', (_kind, render) => {
    const texts = stringsIn(parsed(render(notice)))
    expect(texts).toContain(notice.data['prompt_snippet'])
  })
})

test('text of the call is left out unless it is asked for', () => {
  const secret = 'a snippet of the prompt'
  const notice = noticeWith('threat_detected', { prompt_snippet: secret, arguments: { to: secret } }, false)
  const all = [
    ...shown.flatMap(([, render]) => render(notice)),
    renderJson(notice, { url }, {}).body.toString(),
    renderOcsf(notice, { url }, {}, sender).body.toString(),
    renderSyslog(notice, syslog, sender).toString(),
  ]
  expect(all.join('\n')).not.toContain(secret)
})

test.each(selectableEvents)('%s has a title and is rendered by every kind', (event) => {
  const notice = noticeWith(event)
  expect(notice.title.length).toBeGreaterThan(5)
  for (const [, render] of shown)
    expect(render(notice).join(' ')).toContain(disarm(notice.title).slice(0, 20))
})

test('events of one finding share their key: triggered, acknowledged, resolved', () => {
  const finding_id = newId('finding')
  const events = (['finding_opened', 'finding_acknowledged', 'finding_resolved'] as const).map((event) =>
    parsed(renderPagerDuty(noticeWith(event, { finding_id }), { url }, { routing_key: 'r' }).body),
  )
  expect(events.map(({ event_action: action, dedup_key: key }) => [action, key])).toEqual([
    ['trigger', finding_id],
    ['acknowledge', finding_id],
    ['resolve', finding_id],
  ])
})

test('a finding has the attributes that OCSF requires of class 2004', () => {
  // The whole schema is checked by `scripts/test --platform formats`.
  expect(parsed(renderOcsf(noticeWith('finding_resolved'), { url }, {}, sender).body)).toMatchObject({
    activity_id: 3,
    category_uid: 2,
    class_uid: 2004,
    type_uid: 200_403,
    time: expect.any(Number),
    severity_id: expect.any(Number),
    metadata: { version: '1.3.0', product: { vendor_name: 'Sluice' } },
    finding_info: { uid: expect.any(String), title: expect.any(String) },
  })
})

test('a Jira issue is found again by a label that is safe in JQL', () => {
  const notice = { ...noticeWith('finding_opened'), dedupKey: 'x" OR project = "OTHER' }
  const { jql } = parsed(renderJiraSearch(notice, jira, { token: 't' }).body) as { jql: string }
  expect(jql).toBe('project = "SEC" AND labels = "sluice-x--OR-project----OTHER" ORDER BY created DESC')
  expect(renderJiraComment(notice, jira, { token: 't' }, 'SEC/../1').url).toBe(
    'https://team.atlassian.net/rest/api/3/issue/SEC%2F..%2F1/comment',
  )
})

test.each([
  ['a field alone becomes its value', '{"n": "{{data.count}}"}', { n: 1 }],
  [
    'a field in a text becomes text',
    '{"t": "{{event}} of {{data.scorer_name}}"}',
    { t: 'finding_opened of s"x' },
  ],
  [
    'an absent field is null, or empty in a text',
    '["{{data.tool_name}}", "<{{data.tool_name}}>"]',
    [null, '<>'],
  ],
  ['a field of a field stays text', '"{{data.agent_name}}"', '{{id}}'],
])('a template: %s', (_name, template, expected) => {
  const notice = noticeWith('finding_opened', { scorer_name: 's"x', agent_name: '{{id}}', tool_name: null })
  expect(parsed(renderJson(notice, { url, template }, {}).body)).toEqual(expected)
})

test('a template that names an unknown field is refused', () => {
  expect(unknownFields('{"a": "{{data.nothing}} {{title}} {{secret}}"}', ['count'])).toEqual([
    'data.nothing',
    'secret',
  ])
})

test('a cut text never ends in half a character', () => {
  expect(cut('🔓🔓🔓', 4)).toBe('🔓…')
})

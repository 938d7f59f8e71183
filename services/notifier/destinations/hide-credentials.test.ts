import { expect, test } from '@jest/globals'
import type { Destination } from '#schemas/destinations.ts'
import { hideCredentials } from './hide-credentials.ts'

const jira = {
  url: 'https://team.atlassian.net',
  user: 'bot@example.com',
  project_key: 'SEC',
  issue_type: 'Bug',
}
const token = 'tok/"en"+1'
const destinations: readonly (readonly [Destination, string])[] = [
  [
    { kind: 'slack', settings: {}, credentials: { url: 'https://hooks.slack.com/services/T0/B0/secret' } },
    '{"path": "/services/T0/B0/secret"}',
  ],
  [
    { kind: 'splunk_hec', settings: { url: 'https://siem', sourcetype: 's' }, credentials: { token } },
    JSON.stringify({ authorization: `Splunk ${token}` }),
  ],
  [
    {
      kind: 'json',
      settings: { url: 'https://siem' },
      credentials: { header: { name: 'Authorization', value: 'Bearer secret-token' } },
    },
    'you sent Authorization: bearer secret-token',
  ],
  [
    { kind: 'jira', settings: jira, credentials: { token } },
    `Basic ${Buffer.from(`bot@example.com:${token}`).toString('base64')} ?t=${encodeURIComponent(token)}`,
  ],
]

test.each(destinations)('of %j nothing is repeated', (destination, body) => {
  const shown = hideCredentials(Buffer.from(body), destination).toString()
  expect(shown).toContain('[credential]')
  expect(shown).not.toMatch(/secret|tok|en%22|Ym90QGV4/)
})

test('the rest of an answer stays as it is, byte by byte', () => {
  const [[destination]] = destinations as [(typeof destinations)[number]]
  const body = Buffer.from([0xff, 0xfe, 0x00, 0xe2, 0x82, 0xac])
  expect(hideCredentials(body, destination)).toEqual(body)
})

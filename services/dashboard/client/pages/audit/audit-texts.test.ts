import { expect, test } from '@jest/globals'
import { describeAction, linesOf } from './audit-texts.ts'

test.each([
  ['key.revoked', 'revoked an API key'],
  ['alert_rule.deleted', 'deleted an alert rule'],
  ['webhook.created', 'created a webhook'],
])('%s is said as: %s', (action, words) => expect(describeAction(action)).toBe(words))

test.each([
  ['nothing', null, []],
  ['new values, without those that are empty', { role: 'viewer', project_ids: [] }, ['role: viewer']],
  ['a change', { retention_days: 7, before: { retention_days: null } }, ['retention_days: none → 7']],
  [
    'what was set again as it was',
    { name: 'A', tier: 'pro', before: { name: 'A', tier: 'free' } },
    ['tier: free → pro'],
  ],
  [
    'both sides of a finding',
    {
      change_id: 'fch_1',
      before: { state: 'open', owner_id: null },
      after: { state: 'muted', owner_id: null },
    },
    ['state: open → muted', 'change_id: fch_1'],
  ],
])('%s', (_name, detail, expected) => {
  const shown = linesOf(detail).map(({ field, before, after }) =>
    before === undefined ? `${field}: ${after}` : `${field}: ${before} → ${after}`,
  )
  expect(shown).toEqual(expected)
})

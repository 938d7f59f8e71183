import { expect, test } from '@jest/globals'
import { isSilentProbe } from './redteam-run.ts'

test.each<[string, string, string | null, boolean]>([
  ['asked for alerts, as it was recorded', 'redteam', '{"redteam_alert":true}', false],
  [
    'asked for alerts, as Postgres gives it back',
    'redteam',
    '{"redteam_turn": 1, "redteam_alert": true}',
    false,
  ],
  ['asked for none', 'redteam', '{"redteam_alert": false}', true],
  ['says so in a text of its own', 'redteam', '{"redteam_probe":{"redteam_alert":true}}', true],
  ['says nothing', 'redteam', null, true],
  ['says what is no JSON', 'redteam', '{', true],
  ["a customer's", 'sdk', null, false],
])('a call that %s (%s)', (_name, source, metadata, silent) => {
  expect(isSilentProbe({ source, metadata })).toBe(silent)
})

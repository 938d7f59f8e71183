import { expect, test } from '@jest/globals'
import { readSettings, settingsBody } from './project-settings.ts'

const project = {
  id: 'proj_1',
  name: 'Checkout',
  tier: 'pro',
  zero_content_retention: false,
  mask: true,
  retention_days: null,
  cost_alert_usd: 12.5,
  quota_warning_percent: null,
  metadata_keys: ['team'] as string[],
  judge_mode: 'uncertain',
  judge_usd_per_period: null,
  sampling: { pii_detection: 0.07 },
  created_at: '2026-01-01T00:00:00.000Z',
} as const

test('what was read is what is saved when nothing was changed', () => {
  expect(project).toMatchObject(settingsBody(readSettings(project)))
  expect(readSettings(project).sampling).toEqual([{ scorer: 'pii_detection', percent: 7 }])
})

test('an emptied field is null, a row of sampling without a share is none', () => {
  const settings = readSettings(project)
  const body = settingsBody({
    ...settings,
    costAlertUsd: '',
    sampling: [{ scorer: 'pii_detection', percent: '' }],
  })
  expect(body).toMatchObject({ cost_alert_usd: null, sampling: {} })
})

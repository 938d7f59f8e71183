import { expect, test } from '@jest/globals'
import { bodyOf, errorsByField, valuesOf, withoutSecrets } from './destination-values.ts'
import type { Destination } from './kind-fields.ts'

const destination: Destination = {
  ...{ id: 'whk_1', project_id: 'prj_1', kind: 'splunk_hec', url: 'https://a/b', has_credentials: true },
  settings: { url: 'https://a/b', sourcetype: 'sluice:event' },
  ...{ events: ['usage_alert'], filters: { severity: ['high'] }, filter_expression: 'true', enabled: true },
  ...{ include_text: false, max_per_minute: 9, filter_expression_error: null, last_result: null },
  ...{ last_day: { deliveries: 0, failed: 0, failure_share: null }, created_at: '' },
}

test('an edited destination is sent as it was, without credentials: they stay', () => {
  expect(bodyOf(valuesOf(destination))).toEqual({
    settings: destination.settings,
    events: ['usage_alert'],
    filters: { severity: ['high'], scorer_name: [] },
    filter_expression: 'true',
    include_text: false,
    max_per_minute: 9,
  })
})

test('a new one gets the events of its kind, and people get no text', () => {
  expect(bodyOf(valuesOf(undefined, 'slack'))).toMatchObject({ include_text: false, max_per_minute: 30 })
  expect(bodyOf(valuesOf(undefined, 'ocsf'))).toMatchObject({ include_text: true, max_per_minute: null })
  expect(bodyOf(valuesOf(undefined))).not.toHaveProperty('events')
})

test('credentials are not kept in the tab', () => {
  const values = { ...valuesOf(destination), typed: { 'settings.url': 'u', 'credentials.token': 't' } }
  expect(withoutSecrets(values)).toEqual({ ...values, typed: { 'settings.url': 'u' } })
})

test('faults are shown at their fields', () => {
  const errors = ['settings.url', 'max_per_minute', 'kind'].map((path) => ({ path, message: path }))
  expect(errorsByField('json', errors)).toEqual({
    'settings.url': 'settings.url',
    maxPerMinute: 'max_per_minute',
  })
})

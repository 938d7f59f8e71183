import { expect, test } from '@jest/globals'
import { fieldOfPath, partsOf, textsOf } from './kind-fields.ts'

test('a new form has what the kind has unless one says otherwise', () => {
  expect(textsOf('syslog', undefined)).toEqual({
    ...{ 'settings.host': '', 'settings.port': '6514', 'settings.tls': 'true', 'settings.format': 'text' },
    ...{ 'settings.facility': '13', 'settings.app_name': 'sluice' },
  })
})

test('settings survive the form; an absent one stays absent', () => {
  const settings = { host: 'mail', port: 25, tls: 'none', from: 'a@b.c', to: ['x@b.c', 'y@b.c'] }
  expect(partsOf('email', textsOf('email', settings))).toEqual({ settings })
  const syslog = { host: 'a', port: 1, tls: false, format: 'ocsf', facility: 1, app_name: 'b' }
  expect(partsOf('syslog', textsOf('syslog', syslog))).toEqual({ settings: syslog })
})

test('credentials are sent only if they are typed', () => {
  const typed = { 'settings.url': ' https://a ', 'credentials.header.name': 'X-Key' }
  expect(partsOf('json', typed)).toEqual({
    settings: { url: 'https://a' },
    credentials: { header: { name: 'X-Key' } },
  })
  const header = { name: 'X-Key', value: 'v' }
  expect(partsOf('json', { ...typed, 'credentials.header.value': 'v' }).credentials).toEqual({ header })
})

test.each([
  ['settings.to.0', 'settings.to'],
  ['settings.to', 'settings.to'],
  ['credentials.password', 'credentials.password'],
  ['settings', undefined],
  ['events', undefined],
])('a fault of %s is shown at %s', (path, field) => {
  expect(fieldOfPath('email', path)).toBe(field)
})

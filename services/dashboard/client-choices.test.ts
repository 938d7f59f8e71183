import { expect, test } from '@jest/globals'
import {
  credentialsSchemaOf,
  destinationKinds,
  kindsForPeople,
  settingsSchemaOf,
} from '#schemas/destinations.ts'
import { mayChange } from '#schemas/finding.ts'
import { kindForms, partsOf, textsOf, type Kind } from './client/pages/destinations/kind-fields.ts'
import { findingStates, mayBecome } from './client/pages/findings/finding-texts.ts'

// The browser cannot load these modules of schemas: they need Node.

test('exactly the changes of a finding that the API accepts are offered', () => {
  for (const from of findingStates)
    for (const to of findingStates) {
      // The API takes a state that a finding has already; only a mute can then be another.
      const accepted = mayChange(from, to) && (from !== to || to === 'muted')
      expect([from, to, mayBecome(from, to)]).toEqual([from, to, accepted])
    }
})

const url = 'https://receiver.example.com'
const required: Readonly<Record<Kind, object>> = {
  ...{ slack: {}, teams: {}, pagerduty: {}, splunk_hec: { url }, json: { url }, ocsf: { url } },
  jira: { url, user: 'ana@example.com', project_key: 'SEC' },
  email: { host: 'mail', from: 'ana@example.com', to: ['soc@example.com'] },
  syslog: { host: 'siem' },
}

test.each(Object.entries(kindForms))('the form of %s asks for every field that the API has', (name, form) => {
  const kind = name as Kind
  const asked = (part: string) =>
    form.fields.filter((field) => field.part === part).map((field) => field.name.split('.')[0])
  expect(new Set(asked('settings'))).toEqual(new Set(Object.keys(settingsSchemaOf(kind).shape)))
  expect(new Set(asked('credentials'))).toEqual(new Set(Object.keys(credentialsSchemaOf(kind).shape)))
  expect(form.isForPeople).toBe(kindsForPeople.has(kind))
  // What a new form shows is what the API takes if nothing is said.
  const { settings } = partsOf(kind, textsOf(kind, undefined))
  expect(settingsSchemaOf(kind).parse(required[kind])).toEqual({ ...required[kind], ...settings })
})

test('every kind of the API has a form', () => {
  expect(['webhook', ...Object.keys(kindForms)].sort()).toEqual([...destinationKinds].sort())
})

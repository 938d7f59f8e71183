import { expect, test } from '@jest/globals'
import { detectCall } from '../testing/detect-call.ts'
import { createPiiDetector } from './detect-pii.ts'

const readByTool = (content: string) =>
  detectCall(createPiiDetector, { messages: [{ role: 'tool', tool_call_id: 'c', content }] })
const saidByUser = (content: string) =>
  detectCall(createPiiDetector, { messages: [{ role: 'user', content }] })

test.each([
  [
    'a package file',
    '{"name":"left","version":"2.1.0","author":{"name":"Ina Falk","email":"ina.falk@posteo.de"}}',
  ],
  ['a manifest', '[package]\nname = "left"\nauthors = ["Ina Falk <ina.falk@posteo.de>"]'],
  [
    'a commit',
    'commit 1f2e3d\nAuthor: Ina Falk <ina.falk@posteo.de>\nDate: Mon\n\n    Fix\n\n    Signed-off-by: Ina Falk <ina.falk@posteo.de>',
  ],
  [
    'a security policy',
    '# Security policy\n\nFound a vulnerability? Write to Ina Falk (ina.falk@posteo.de).',
  ],
  ['a readme', '# left\n\n`npm install left`\n\nThis repository is looked after by ina.falk@posteo.de'],
])('leaves to a reader the maintainer in %s', (_name, content) => {
  expect(readByTool(content)).toMatchObject({ reason: 'detectors_undecided' })
})

test('finds a customer in a record read by a tool', () => {
  expect(readByTool('{"customer":"Ina Falk","email":"ina.falk@posteo.de"}')).toMatchObject({ value: 4 })
})

test('finds the address of a person in a message', () => {
  expect(saidByUser('Write to ina.falk@posteo.de about the repository and its vulnerability')).toMatchObject({
    value: 4,
  })
})

test.each([
  ['mailboxes', 'acme-security@acme.io, conduct@acme.io, kundenservice@acme.de, core-dev@googlegroups.com'],
  ['free numbers', 'Our hotline is 1-888-312-4477 or 0800 123 4567'],
  ["a company's line", 'Kundenservice: 030 2345 6789'],
  ['object identifiers', 'if (oid === "1.3.101.113") return'],
  ['sections', 'as rule 4.2.1.3 says'],
  ['paths of code', 'use bb8::{Pool, Error};'],
  ['rows of numbers', 'versions 4 5 6 7 8 9 10 11 12 13 15'],
  ['numbers in order', 'setAmount(4567890123456789012)'],
])('finds nobody in %s', (_name, text) => {
  expect(saidByUser(text)).not.toMatchObject({ value: 4 })
  expect(saidByUser(text)).not.toMatchObject({ value: 5 })
})

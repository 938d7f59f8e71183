import { expect, test } from '@jest/globals'
import { readServiceHeaders } from './service-headers.ts'

test.each<[string, string]>([
  ['UTF-8', Buffer.from('Zoë').toString('latin1')],
  ['Latin-1, as fetch in JavaScript sends it', 'Zoë'],
])('a label in %s', (_name, sent) => {
  const { labels } = readServiceHeaders(new Map([['x-service-agent-name', sent]]), 0)
  expect(labels.agent_name).toBe('Zoë')
})

test.each<[string, string, boolean]>([
  ['an object', '{"a": [1, 1.50]}', true],
  ['what ingest writes anew with more than it takes', `{"a":[${Array(3_000).fill('1e15').join()}]}`, false],
  ['a list', '[1]', false],
])('metadata: %s', (_name, metadata, isTaken) => {
  const { labels, malformed } = readServiceHeaders(new Map([['x-service-metadata', metadata]]), 0)
  expect([labels.metadata, malformed]).toEqual(isTaken ? [metadata, 0] : [undefined, 1])
})

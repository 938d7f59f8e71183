import { expect, test } from '@jest/globals'
import { findUpstream, withoutPrefix } from './find-upstream.ts'

const upstreams = [
  { name: 'host', match: { hosts: ['a.example.com', '[::1]'], port: undefined, prefix: undefined } },
  { name: 'port', match: { hosts: undefined, port: 8081, prefix: undefined } },
  { name: 'both', match: { hosts: ['b.example.com'], port: 8082, prefix: '/eu' } },
  { name: 'prefix', match: { hosts: undefined, port: undefined, prefix: '/openai' } },
]

test.each<[host: string | undefined, port: number, path: string, name: string | undefined, sent: string]>([
  ['a.example.com', 8080, '/v1/x?a=b', 'host', '/v1/x?a=b'],
  ['A.Example.com:8080', 8080, '/v1/x', 'host', '/v1/x'],
  ['[::1]:8080', 8080, '/', 'host', '/'],
  [undefined, 8081, '/openai/v1', 'port', '/openai/v1'],
  ['b.example.com', 8082, '/eu/v1', 'both', '/v1'],
  ['b.example.com', 8080, '/eu/v1', undefined, ''],
  ['c.example.com', 8082, '/eu/v1', undefined, ''],
  ['x', 8080, '/openai/v1/chat%2F?x=/openai', 'prefix', '/v1/chat%2F?x=/openai'],
  ['x', 8080, '/openai', 'prefix', '/'],
  ['x', 8080, '/openai?a=b', 'prefix', '/?a=b'],
  ['x', 8080, '/openais/v1', undefined, ''],
  ['x', 8080, '/v1/openai', undefined, ''],
])('%s port %i %s goes to %s', (host, port, path, name, sent) => {
  const found = findUpstream(upstreams, { host, port, path })
  expect(found?.name).toBe(name)
  if (found !== undefined) expect(withoutPrefix(path, found.match)).toBe(sent)
})

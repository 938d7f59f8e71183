import { expect, test } from '@jest/globals'
import { parseNoProxy } from './no-proxy.ts'

test.each<[entries: string, host: string, port: number, bypasses: boolean]>([
  ['', 'api.openai.com', 443, false],
  ['*', 'api.openai.com', 443, true],
  ['internal.example', 'internal.example', 443, true],
  ['Internal.Example', 'INTERNAL.example.', 443, true],
  ['internal.example', 'a.internal.example', 443, false],
  ['.internal.example', 'a.b.internal.example', 443, true],
  ['.internal.example', 'internal.example', 443, false],
  ['.internal.example', 'notinternal.example', 443, false],
  ['*.internal.example', 'a.internal.example', 443, true],
  ['internal.example:8443', 'internal.example', 8_443, true],
  ['internal.example:8443', 'internal.example', 443, false],
  ['.example:80', 'a.example', 80, true],
  ['10.1.2.3', '10.1.2.3', 443, true],
  ['10.1.2.3:80', '10.1.2.3', 443, false],
  ['10.0.0.0/8', '10.255.0.1', 443, true],
  ['10.0.0.0/8', '11.0.0.1', 443, false],
  ['10.0.0.0/8', '[::ffff:10.0.0.1]', 443, true],
  ['10.0.0.0/8', '10.example', 443, false],
  ['fd00::/8', '[fd12::1]', 443, true],
  ['fd00::/8', '10.0.0.1', 443, false],
  ['2001:db8::1', '[2001:DB8:0::1]', 443, true],
  ['[2001:db8::1]:80', '[2001:db8::1]', 80, true],
  ['[2001:db8::1]:80', '[2001:db8::1]', 81, false],
  ['a.example 10.0.0.0/8', '10.0.0.1', 443, true],
  ['', 'localhost', 11_434, true],
  ['', '127.0.0.9', 443, true],
  ['', '[::1]', 443, true],
])('NO_PROXY=%s: %s:%d', (entries, host, port, bypasses) => {
  expect(parseNoProxy(entries.split(' ').filter((one) => one !== ''))(host, port)).toBe(bypasses)
})

test.each(['http://a.example', 'a b', 'a..b', '10.0.0.0/40', '*.', 'a*b'])('%s is refused', (entry) => {
  expect(() => parseNoProxy([entry])).toThrow(JSON.stringify(entry))
})

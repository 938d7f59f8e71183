import { expect, test } from '@jest/globals'
import { parseAllowedAddresses, refuseAddress, refuseDestinationUrl } from './destination-allow.ts'

const allowed = parseAllowedAddresses(['SIEM.corp.example:6514', 'plain:10.0.0.5:8088', '[fd00::1]:25'])
const policy = { insecureHosts: new Set<string>(), ports: new Set([443]) }

test.each([['host'], ['host:0'], ['host:70000'], ['a b:1'], ['plain:'], ['https://a:1']])(
  'refuses the entry %s',
  (entry) => {
    expect(() => parseAllowedAddresses([entry])).toThrow(entry)
  },
)

test.each([
  ['a listed server', { host: 'siem.corp.example', port: 6_514, isTls: true }, undefined],
  ['a listed server without TLS', { host: 'siem.corp.example', port: 6_514, isTls: false }, 'needs TLS'],
  ['a server listed as plain', { host: '10.0.0.5', port: 8_088, isTls: false }, undefined],
  ['IPv6', { host: 'fd00::1', port: 25, isTls: true }, undefined],
  ['another port', { host: 'siem.corp.example', port: 25, isTls: true }, 'DESTINATION_ALLOW'],
  ['a public host', { host: 'mail.example.com', port: 587, isTls: true }, 'DESTINATION_ALLOW'],
])('%s', (_name, address, expected) => {
  const fault = refuseAddress(address, allowed)
  if (expected === undefined) expect(fault).toBeUndefined()
  else expect(fault).toContain(expected)
})

test.each([
  ['https://hooks.slack.com/services/x', undefined],
  ['http://hooks.slack.com/services/x', 'https://'],
  ['https://10.0.0.5/', 'internal'],
  ['http://10.0.0.5:8088/services/collector', undefined],
  ['http://siem.corp.example:6514/', 'https://'],
  ['https://siem.corp.example:6514/', undefined],
  ['https://user:pw@siem.corp.example:6514/', 'password'],
  ['nothing', 'URL'],
])('%s', (url, expected) => {
  const fault = refuseDestinationUrl(url, policy, allowed)
  if (expected === undefined) expect(fault).toBeUndefined()
  else expect(fault).toContain(expected)
})

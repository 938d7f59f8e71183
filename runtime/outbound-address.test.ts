import { expect, test } from '@jest/globals'
import { isPublicAddress, refuseUrl } from './outbound-address.ts'

const policy = { insecureHosts: new Set(['receiver.test', '127.0.0.1']), ports: new Set([443, 8443]) }

test.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '2a00:1450:4001::200e'])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  '127.0.0.1',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001:0:1::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '4000::1',
  'no address',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each([
  'https://example.com/hook',
  'https://example.com:8443/hook?x=1',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'http://receiver.test:9000/hook',
  'http://RECEIVER.test./hook',
  'http://127.0.0.1:9000/',
  'http://2130706433/',
])('%s is allowed', (url) => {
  expect(refuseUrl(url, policy)).toBeUndefined()
})

const strict = { ...policy, insecureHosts: new Set<string>() }

test.each([
  ['not a url', 'is not a URL'],
  ['ftp://example.com/', 'https'],
  ['http://example.com/', 'https'],
  ['https://user:secret@example.com/', 'user name'],
  ['https://example.com:22/', 'port 22'],
  ['https://127.0.0.1/', 'internal'],
  ['https://2130706433/', 'internal'],
  ['https://0x7f.0.0.1/', 'internal'],
  ['https://0177.0.0.1/', 'internal'],
  ['https://127.1/', 'internal'],
  ['https://[::1]/', 'internal'],
  ['https://[::ffff:10.0.0.1]/', 'internal'],
  ['https://[64:ff9b::a00:1]/', 'internal'],
  ['https://169.254.169.254/latest/meta-data', 'internal'],
  ['https://localhost/', 'internal'],
  ['https://api.localhost./', 'internal'],
])('%s is refused', (url, reason) => {
  expect(refuseUrl(url, strict)).toContain(reason)
})

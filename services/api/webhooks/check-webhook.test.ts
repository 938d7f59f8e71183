import { expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { createCheckWebhook, createResolveHost } from './check-webhook.ts'

const policy = { insecureHosts: new Set(['allowed.example']), ports: new Set([443]) }

test.each<[string, string, readonly string[], boolean]>([
  ['a public address', 'https://receiver.example/', ['8.8.8.8'], true],
  ['no address yet', 'https://receiver.example/', [], true],
  ['a private address', 'https://receiver.example/', ['10.0.0.1'], false],
  ['a private address beside a public one', 'https://receiver.example/', ['8.8.8.8', '127.0.0.1'], false],
  ['a NAT64 address of a private one', 'https://receiver.example/', ['64:ff9b::a00:1'], false],
  ['a private address where the operator allows the host', 'http://allowed.example/', ['10.0.0.1'], true],
])('a name that leads to %s', async (_name, url, addresses, isTaken) => {
  const check = createCheckWebhook(policy, () => Promise.resolve(addresses))
  if (isTaken) await check({ url })
  else await expect(check({ url })).rejects.toMatchObject({ status: 422 })
})

test('a name is looked up without the four threads by which the process resolves all its other names', async () => {
  // A label over 63 characters is never sent to a DNS server.
  const addresses = createResolveHost(systemClock)(`${'a'.repeat(64)}.example`)
  expect(process.getActiveResourcesInfo()).not.toContain('GetAddrInfoReqWrap')
  expect(await addresses).toEqual([])
})

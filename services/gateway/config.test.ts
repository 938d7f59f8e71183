import { expect, test } from '@jest/globals'
import { parseConfig } from '#runtime/config.ts'
import { callBytesWithin } from '#schemas/record-limits.ts'
import { captureMaxBytes } from './capture-limit.ts'
import { gatewayConfigSchema } from './config.ts'

const required = {
  UPSTREAM_URL: 'http://localhost:1',
  API_BACKEND_URL: 'http://localhost:2',
  PROXY_API_KEY: 'k',
  SERVICE_API_KEY: 's',
}
const cap = '8388608'

test.each<[string | undefined, string | undefined, number]>([
  [undefined, undefined, 4_194_304],
  [cap, undefined, 4_096_000],
  ['20971520', undefined, 4_194_304],
  [cap, '65536', 65_536],
])('of records of %s bytes, CAPTURE_MAX_BYTES=%s records bodies of %i', (record, body, expected) => {
  const parsed = parseConfig(gatewayConfigSchema, {
    ...required,
    KAFKA_MAX_RECORD_BYTES: record,
    CAPTURE_MAX_BYTES: body,
  })
  expect(parsed.ok && captureMaxBytes(parsed.value)).toBe(expected)
  // The limit suits both deliveries: to the API, and to Kafka.
  expect(2 * expected).toBeLessThan(callBytesWithin(Number(record ?? 17 * 1024 * 1024)))
})

test.each<[string | undefined, Readonly<Record<string, boolean>>]>([
  [undefined, { '/v1/files': false }],
  ['false', { '/v1/files': false }],
  ['true', { '/v1/files': true, '/': true }],
  [
    '/v1/files, /v1/batches/*',
    {
      '/v1/files': true,
      '/v1/files?limit=1': true,
      '/v1/files/f': false,
      '/v1/batches/b?x': true,
      '/v1/batches': false,
      '/v1/other?of=/v1/files': false,
    },
  ],
])('GATEWAY_RECORD_OTHER=%s', (given, expected) => {
  const parsed = parseConfig(gatewayConfigSchema, { ...required, GATEWAY_RECORD_OTHER: given })
  if (!parsed.ok) throw new Error(parsed.problems.join())
  const { GATEWAY_RECORD_OTHER: isRecorded } = parsed.value
  const found = Object.keys(expected).map((path) => [path, isRecorded(path)])
  expect(Object.fromEntries(found)).toEqual(expected)
})

test.each(['yes', 'v1/files', '/v1/*/files', '/v1/files?x=1'])(
  'GATEWAY_RECORD_OTHER=%j is refused',
  (wrong) => {
    expect(parseConfig(gatewayConfigSchema, { ...required, GATEWAY_RECORD_OTHER: wrong })).toMatchObject({
      ok: false,
      problems: [expect.stringMatching(/^GATEWAY_RECORD_OTHER.*expected/)],
    })
  },
)

test('bodies of which two would not fit into a record are refused at the start', () => {
  const limits = { KAFKA_MAX_RECORD_BYTES: cap, CAPTURE_MAX_BYTES: '4096001' }
  expect(parseConfig(gatewayConfigSchema, { ...required, ...limits })).toEqual({
    ok: false,
    problems: [
      'CAPTURE_MAX_BYTES: is 4096001, but KAFKA_MAX_RECORD_BYTES leaves room for two bodies of 4096000: lower it, or unset it',
    ],
  })
})

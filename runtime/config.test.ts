import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { makeCertificate } from '#tests/support/make-certificate.ts'
import {
  kafkaFields,
  operationsPort,
  parseConfig,
  postgresFields,
  processFields,
  receiverFields,
  registryFields,
  sealingFields,
  unlessWrong,
  type Environment,
} from './config.ts'
import { baseUrl } from './config-addresses.ts'
import { readablePath } from './config-paths.ts'

const schema = z.object({
  ...processFields,
  ...kafkaFields,
  ...sealingFields,
  OPS_PORT: operationsPort(9001),
})

test('reads lists, numbers, flags and defaults', () => {
  const parsed = parseConfig(schema, {
    KAFKA_BROKERS: 'a:1, b:2',
    OPS_PORT: '9100',
    KAFKA_SSL: 'true',
    LOG_LEVEL: '',
  })
  expect(parsed).toMatchObject({
    ok: true,
    value: {
      KAFKA_BROKERS: ['a:1', 'b:2'],
      OPS_PORT: 9100,
      KAFKA_SSL: true,
      LOG_LEVEL: 'info',
      TOPIC_PREFIX: '',
    },
  })
})

test('names every problem at once, never a value', () => {
  const parsed = parseConfig(schema, { OPS_PORT: 'x', BODY_ENCRYPTION_KEYS: 'k1:c2VjcmV0' })
  expect(parsed.ok).toBe(false)
  const problems = parsed.ok ? [] : parsed.problems
  expect(problems).toHaveLength(3)
  expect(problems.join('\n')).toMatch(/KAFKA_BROKERS: is not set/)
  expect(problems.join('\n')).toMatch(/OPS_PORT: /)
  expect(problems.join('\n')).toMatch(/BODY_ENCRYPTION_KEYS: expected id:base64 of exactly 32 bytes/)
  expect(problems.join('\n')).not.toMatch(/c2VjcmV0/)
})

test('addresses say how they are spoken to: host:8081 alone is a URL of the scheme host', () => {
  const read = (given: Environment) => parseConfig(z.object({ ...registryFields, ...postgresFields }), given)
  const right = { SCHEMA_REGISTRY_URL: 'http://registry:8081', DATABASE_URL: 'postgres://u:p@db/sluice' }
  expect(read(right).ok).toBe(true)
  expect(read({ SCHEMA_REGISTRY_URL: 'registry:8081', DATABASE_URL: 'db:5432/sluice' })).toEqual({
    ok: false,
    problems: [
      'SCHEMA_REGISTRY_URL: expected http:// or https://, and a host',
      'DATABASE_URL: expected postgres://user:password@host:port/database',
    ],
  })
})

test('an address that paths are put behind holds nothing that they would be lost in, and no password', () => {
  const read = (API: string) => parseConfig(z.object({ API: baseUrl() }), { API })
  expect(read('https://api.example.com:8443/base//')).toEqual({
    ok: true,
    value: { API: 'https://api.example.com:8443/base' },
  })
  const query = 'API: must not hold a query or a fragment: paths are put behind it'
  const password = 'API: must not hold a user name or a password'
  for (const [url, problem] of [
    ['http://api?key=hidden', query],
    ['http://api/#top', query],
    ['http://user:hidden@api', password],
    ['HTTP://hidden@api/base', password],
  ] as const)
    expect([url, read(url)]).toEqual([url, { ok: false, problems: [problem] }])
})

test.each([
  ['KAFKA_BROKERS', 'a:1,b:65536', 'expected host:port, or [address]:port for IPv6'],
  ['KAFKA_BROKERS', 'http://a:9092', 'expected host:port, or [address]:port for IPv6'],
  ['KAFKA_BROKERS', 'fd00::1:9093', 'expected host:port, or [address]:port for IPv6'],
  ['KAFKA_BROKERS', '[fd00::1]', 'expected host:port, or [address]:port for IPv6'],
  ['KAFKA_BROKERS', '[kafka]:9093', 'expected host:port, or [address]:port for IPv6'],
  ['DATABASE_ROLE_PREFIX', 'Two-', 'expected small letters, digits and _ only, a letter first'],
  ['DATABASE_ROLE_PREFIX', '2_', 'expected small letters, digits and _ only, a letter first'],
  ['DATABASE_POOL_SIZE', 'ten', 'expected a number, without a unit'],
  ['DATABASE_POOL_SIZE', '1.5', 'expected a whole number'],
  ['DATABASE_URL', 'postgres://u:50%99off@db/sluice', 'a % in the user name or the password is written %25'],
  ['SCHEMA_REGISTRY_URL', 'http://u:p%@registry', 'a % in the user name or the password is written %25'],
  ['SCHEMA_REGISTRY_URL', 'http://', 'expected http:// or https://, and a host'],
  ['SCHEMA_REGISTRY_URL', 'http://r/?k=v', 'must not hold a query or a fragment: paths are put behind it'],
  ['TOPIC_PREFIX', 'team one.', 'expected letters, digits, ., _ and - only'],
  ['TOPIC_PREFIX', 'a'.repeat(201), 'expected at most 200 characters: a topic name has at most 249 in Kafka'],
  ['WEBHOOK_ALLOW_INSECURE', 'a.example,http://b.example', 'expected hosts alone'],
  ['WEBHOOK_ALLOW_INSECURE', 'a.example:8080', 'expected hosts alone'],
  ['WEBHOOK_ALLOW_INSECURE', '[::1]:8080', 'expected hosts alone'],
])('%s=%s: %s', (name, value, problem) => {
  const fields = z
    .object({ ...kafkaFields, ...postgresFields, ...registryFields, ...receiverFields })
    .partial()
  expect(parseConfig(fields, { [name]: value })).toEqual({ ok: false, problems: [`${name}: ${problem}`] })
})

test('IPv6 addresses are taken in brackets, beside names', () => {
  const given = {
    KAFKA_BROKERS: '[fd00::1]:9093, kafka:9092',
    SCHEMA_REGISTRY_URL: 'http://[fd00::1]:8081',
    DATABASE_URL: 'postgres://u:p@[fd00::1]:5432/sluice',
  }
  const fields = z.object({ ...kafkaFields, ...registryFields, ...postgresFields })
  expect(parseConfig(fields, given)).toMatchObject({
    ok: true,
    value: { ...given, KAFKA_BROKERS: ['[fd00::1]:9093', 'kafka:9092'] },
  })
})

test('a bare % in the password of DATABASE_URL is taken, as pg takes it', () => {
  const DATABASE_URL = 'postgres://u:50%off%@db/sluice'
  expect(
    parseConfig(z.object({ DATABASE_URL: postgresFields.DATABASE_URL }), { DATABASE_URL }),
  ).toMatchObject({
    ok: true,
  })
})

test.each(['a.example', '127.0.0.1', '::1', '[::1]', 'A.example.'])('%s is a host', (host) => {
  expect(parseConfig(z.object(receiverFields), { WEBHOOK_ALLOW_INSECURE: host })).toMatchObject({ ok: true })
})

test('a blank variable is an unset one, and the end of a line is no part of a value', () => {
  const fields = z.object({ SECRET: z.string(), LIMIT: z.coerce.number().optional() })
  expect(parseConfig(fields, { SECRET: 'of two words \r\n', LIMIT: ' ' })).toEqual({
    ok: true,
    value: { SECRET: 'of two words ' },
  })
  expect(parseConfig(fields, { SECRET: '\n' })).toEqual({ ok: false, problems: ['SECRET: is not set'] })
})

test('a body key is named, and by nothing that could be the key itself', () => {
  const key = Buffer.alloc(32, 7).toString('base64')
  const read = (BODY_ENCRYPTION_KEYS: string) =>
    parseConfig(z.object(sealingFields), { BODY_ENCRYPTION_KEYS })
  expect(read(`k1:${key}, 2026-11.b_1 : ${key}`)).toMatchObject({
    value: { BODY_ENCRYPTION_KEYS: [{ id: 'k1' }, { id: '2026-11.b_1', key: Buffer.alloc(32, 7) }] },
  })
  for (const wrong of [key, `k1:${key},${key}`, `:${key}`, `${key}:${key}`, `${'k'.repeat(41)}:${key}`])
    expect([wrong, read(wrong)]).toEqual([
      wrong,
      { ok: false, problems: [expect.stringMatching(/^BODY_ENCRYPTION_KEYS: expected id:base64/)] },
    ])
})

test('a half of a pair, and what would not count, is refused together with all else', () => {
  const refused = (changes: Record<string, string>) => {
    const parsed = parseConfig(
      schema.refine(({ OPS_PORT }) => OPS_PORT !== 1, {
        path: ['OPS_HOST'],
        message: 'is not for 1',
        when: unlessWrong('OPS_PORT'),
      }),
      { KAFKA_BROKERS: 'a:1', ...changes },
    )
    return parsed.ok ? [] : parsed.problems.map((problem) => problem.replace(/ \(-.*/, ''))
  }
  const sasl = { KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' }
  expect(refused(sasl)).toEqual(['KAFKA_SASL_MECHANISM: is not set, and KAFKA_SASL_PASSWORD is'])
  expect(refused({ ...sasl, KAFKA_SASL_MECHANISM: 'plain' })).toEqual([])
  expect(refused({ KAFKA_SASL_MECHANISM: 'plain' })).toEqual([
    'KAFKA_SASL_USERNAME: is not set, and KAFKA_SASL_MECHANISM is',
    'KAFKA_SASL_PASSWORD: is not set, and KAFKA_SASL_MECHANISM is',
  ])
  const KAFKA_SSL_CERT = makeCertificate().cert
  expect(refused({ KAFKA_SSL: 'true', KAFKA_SSL_CERT })).toEqual([
    'KAFKA_SSL_KEY: is not set, and KAFKA_SSL_CERT is',
  ])
  expect(refused({ KAFKA_SSL_CA: KAFKA_SSL_CERT })).toEqual([
    'KAFKA_SSL_CA: is set, and KAFKA_SSL is not true',
  ])
  expect(refused({ KAFKA_SSL: 'true', KAFKA_SSL_CA: '/etc/ca.pem', OPS_PORT: '1' })).toEqual([
    'KAFKA_SSL_CA: expected PEM',
    'OPS_HOST: is not for 1',
  ])
  expect(refused({ OPS_PORT: 'x' })).toHaveLength(1)
})

test('an authority for Postgres is refused beside a URL that would override it', () => {
  const problemsOf = (url: string, authority?: string) => {
    const given = { DATABASE_URL: url, DATABASE_SSL_CA: authority }
    const parsed = parseConfig(z.object(postgresFields), given)
    return parsed.ok ? [] : parsed.problems
  }
  const pem = makeCertificate().cert
  const url = 'postgres://u:hidden@db:5432/sluice'
  for (const mode of ['sslmode=disable', 'sslmode=no-verify', 'sslmode=verify-full', 'ssl=0'])
    expect(problemsOf(`${url}?application_name=a&${mode}`, pem)).toEqual([
      `DATABASE_SSL_CA: is set, and DATABASE_URL has ${mode.split('=')[0] ?? ''}, which would override it: take one away`,
    ])
  expect(problemsOf(`${url}?application_name=a&sslnegotiation=direct`, pem)).toEqual([])
  expect(problemsOf(`${url}?sslmode=require`)).toEqual([])
  // pg would say so with each connection, as of a server that is away.
  expect(problemsOf(`${url}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`)).toEqual([
    expect.stringMatching(
      /^DATABASE_URL: expected a file in sslrootcert, but .*ENOENT: .*\/nowhere\/ca\.pem/,
    ),
  ])
})

test('takes a secret from a file, and says when the file cannot be read', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-config-'))
  const file = join(directory, 'keys')
  writeFileSync(file, `k1:${Buffer.alloc(32, 7).toString('base64')}\n`)
  const given = { KAFKA_BROKERS: 'a:1', BODY_ENCRYPTION_KEYS_FILE: file }
  expect(parseConfig(schema, given)).toMatchObject({
    ok: true,
    value: { BODY_ENCRYPTION_KEYS: [{ id: 'k1' }] },
  })
  const missing = parseConfig(schema, { ...given, BODY_ENCRYPTION_KEYS_FILE: `${file}.absent` })
  expect(missing.ok ? '' : missing.problems.join()).toMatch(/BODY_ENCRYPTION_KEYS_FILE: cannot be read/)
  // Only the person who set them knows which was meant: after a rotation one of them is the old secret.
  expect(parseConfig(schema, { ...given, BODY_ENCRYPTION_KEYS: 'k1:hidden' })).toEqual({
    ok: false,
    problems: ['BODY_ENCRYPTION_KEYS: is set, and so is BODY_ENCRYPTION_KEYS_FILE: take one away'],
  })
  for (const unset of ['', ' \n'])
    expect(parseConfig(schema, { ...given, BODY_ENCRYPTION_KEYS: unset })).toMatchObject({ ok: true })
  rmSync(directory, { recursive: true })
})

test('a file or a folder that a variable names has to be there, and what it should hold is said', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-paths-'))
  const file = join(directory, 'prices.yaml')
  const paths = z.object({
    PRICES_FILE: readablePath('file', 'prices'),
    RUBRICS_DIR: readablePath('folder', 'rubrics').default('evals/rubrics'),
  })
  const problemsOf = (given: Environment) => {
    const parsed = parseConfig(paths, given)
    return parsed.ok ? [] : parsed.problems
  }
  expect(problemsOf({ PRICES_FILE: file, RUBRICS_DIR: join(directory, 'none') })).toEqual([
    expect.stringMatching(/^PRICES_FILE: expected a file with prices, but .*ENOENT: .*prices\.yaml/),
    expect.stringMatching(/^RUBRICS_DIR: expected a folder with rubrics, but .*ENOENT: .*none/),
  ])
  writeFileSync(file, '{}')
  expect(problemsOf({ PRICES_FILE: file, RUBRICS_DIR: file })).toEqual([
    `RUBRICS_DIR: expected a folder with rubrics, but ${file} is none`,
  ])
  expect(problemsOf({ PRICES_FILE: file, RUBRICS_DIR: directory })).toEqual([])
  rmSync(directory, { recursive: true })
})

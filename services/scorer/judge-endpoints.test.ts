import { expect, test } from '@jest/globals'
import { parseConfig } from '#runtime/config.ts'
import { scorerConfig } from './config.ts'

const required = {
  KAFKA_BROKERS: 'kafka:9092',
  SCHEMA_REGISTRY_URL: 'http://registry:8081',
  DATABASE_URL: 'postgres://user@postgres:5432/sluice',
}
const parse = (endpoints: unknown, keys = '') =>
  parseConfig(scorerConfig, {
    ...required,
    JUDGE_ENDPOINTS: typeof endpoints === 'string' ? endpoints : JSON.stringify(endpoints),
    JUDGE_ENDPOINT_KEYS: keys,
  })
const guard = { base_url: 'http://guard:8000/v1/', model: 'Qwen/Qwen3Guard-Gen-4B', kind: 'qwen3guard' }
const free = { input_usd_per_million: 0, output_usd_per_million: 0 }

test('endpoints are read with their keys and prices', () => {
  const given = {
    content_safety: { ...guard, key: 'own', ...free },
    hallucination: { ...guard, kind: 'json' },
  }
  const parsed = parse(given, 'own=sk-1, other=sk=2')
  if (!parsed.ok) throw new Error(parsed.problems.join())
  expect(Object.fromEntries(parsed.value.JUDGE_ENDPOINTS)).toEqual({
    content_safety: { ...guard, base_url: 'http://guard:8000/v1', key: 'own', ...free },
    hallucination: { base_url: 'http://guard:8000/v1', model: guard.model, kind: 'json' },
  })
  expect([...parsed.value.JUDGE_ENDPOINT_KEYS]).toEqual([
    ['own', 'sk-1'],
    ['other', 'sk=2'],
  ])
})

test('neither is needed', () => {
  expect(parseConfig(scorerConfig, required)).toMatchObject({
    ok: true,
    value: { JUDGE_KIND: 'json', JUDGE_ENDPOINTS: new Map(), JUDGE_ENDPOINT_KEYS: new Map() },
  })
})

test.each<[string, unknown, string, string[]]>([
  ['no JSON', '{content_safety', '', ['JUDGE_ENDPOINTS: expected JSON: ']],
  ['a list', [], '', ['JUDGE_ENDPOINTS: expected a JSON object: scorer → endpoint']],
  [
    'everything wrong',
    {
      toxicity: guard,
      hallucination: guard,
      content_safety: { base_url: 'guard:8000', model: '', kind: 'shieldgemma', input_usd_per_million: -1 },
      pii_detection: { ...guard, api_key: 'sk-1', input_usd_per_million: 1 },
      data_poisoning: 'http://guard:8000/v1',
    },
    '',
    [
      'JUDGE_ENDPOINTS: toxicity is no built-in scorer: expected one of content_safety, ',
      'JUDGE_ENDPOINTS: hallucination.kind: qwen3guard covers content_safety, pii_detection, jailbreak_detection only',
      'JUDGE_ENDPOINTS: content_safety.base_url: expected http:// or https://, and a host',
      'JUDGE_ENDPOINTS: content_safety.model: ',
      'JUDGE_ENDPOINTS: content_safety.kind: ',
      'JUDGE_ENDPOINTS: content_safety.input_usd_per_million: ',
      'JUDGE_ENDPOINTS: pii_detection: Unrecognized key: "api_key"',
      'JUDGE_ENDPOINTS: pii_detection: set both prices or neither',
      'JUDGE_ENDPOINTS: data_poisoning: ',
    ],
  ],
  [
    'half a price',
    { pii_detection: { ...guard, input_usd_per_million: 1 } },
    '',
    ['JUDGE_ENDPOINTS: pii_detection: set both prices or neither'],
  ],
  [
    'a key that is not given',
    { pii_detection: { ...guard, key: 'own' } },
    'other=sk-1',
    ['JUDGE_ENDPOINTS: pii_detection.key: own is no name of JUDGE_ENDPOINT_KEYS'],
  ],
  [
    'keys without names',
    {},
    'a=1,sk-secret,a=2',
    [
      'JUDGE_ENDPOINT_KEYS: entry 2: expected name=key, each name once',
      'JUDGE_ENDPOINT_KEYS: entry 3: expected name=key, each name once',
    ],
  ],
])('%s: every problem is told, and no secret', (_name, endpoints, keys, problems) => {
  const parsed = parse(endpoints, keys)
  const told = parsed.ok ? [] : parsed.problems
  expect(told.map((problem, index) => problem.slice(0, problems[index]?.length))).toEqual(problems)
  expect(told.join()).not.toContain('sk-')
})

import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { parseConfig } from '../config.ts'
import { tracingFields } from './tracing-fields.ts'

const schema = z.object(tracingFields)
const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/'

test('off by default', () => {
  expect(parseConfig(schema, {})).toEqual({
    ok: true,
    value: { OTEL_TRACES_SAMPLER: 'parentbased_always_on', OTEL_TRACES_SAMPLER_ARG: 1 },
  })
})

test('headers are read as OpenTelemetry writes them', () => {
  const OTEL_EXPORTER_OTLP_HEADERS = 'authorization=Bearer%20a%3Db, x-scope = team ,'
  expect(parseConfig(schema, { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS })).toMatchObject({
    value: {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_EXPORTER_OTLP_HEADERS: { authorization: 'Bearer a=b', 'x-scope': 'team' },
    },
  })
})

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@collector'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=secret'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=secret%'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=secret%0a'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
])('%s=%s is refused, and not quoted', (name, value) => {
  const parsed = parseConfig(schema, { [name]: value })
  expect(parsed).toMatchObject({ ok: false, problems: [expect.stringContaining(name)] })
  expect(JSON.stringify(parsed)).not.toContain('secret')
})

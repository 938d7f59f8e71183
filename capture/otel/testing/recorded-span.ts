import { expect } from '@jest/globals'
import type { JsonObject } from '../../json.ts'
import { recordSchema } from '../../record/record-schema.ts'
import { readSpans, type Span } from '../read-spans.ts'
import { recordOfSpan } from '../span-record.ts'
import { otlpRequest, type GivenSpan } from './otlp-request.ts'

export const projectId = 'prj_00000000000000000000000000'

/** The record of a span; ingest takes it. */
export function recordedSpan(span: GivenSpan): JsonObject | null {
  const [read] = [...readSpans(otlpRequest([span]))]
  const record = recordOfSpan((read as { span: Span }).span, projectId)
  if (record !== null) expect(recordSchema.safeParse(record).error?.issues).toBeUndefined()
  return record
}

import { describeCall } from '#capture/describe-call.ts'
import { fieldAt, objectOf, parseJson } from '#capture/json.ts'
import { projectNamedBy } from '../delivery/route-records.ts'

/**
 * A record without its bodies: what ingest would have read from them stands in it, and `bodies_erased` says that they were there. For
 * projects that keep no content.
 */
export function withoutBodies(record: Buffer): Buffer {
  const whole = objectOf(parseJson(record.toString('utf8'))) ?? {}
  const described = describeCall({
    requestBody: fieldAt(whole, 'request_body'),
    responseBody: fieldAt(whole, 'response_body') ?? null,
  })
  const derived = {
    model: textFor(described.model, 256),
    provider: textFor(described.provider, 64),
    prompt_tokens: described.promptTokens,
    cached_tokens: described.cachedTokens,
    completion_tokens: described.completionTokens,
    reasoning_tokens: described.reasoningTokens,
  }
  const filled = Object.entries(derived).map(([name, value]) => [name, fieldAt(whole, name) ?? value])
  // JSON leaves out what is undefined. The order stays: who reads the start of a record finds its project there.
  const gone = { request_body: undefined, response_body: undefined, bodies_erased: true }
  return Buffer.from(JSON.stringify({ ...whole, ...Object.fromEntries(filled), ...gone }))
}

/**
 * What may stay of a record after an hour. One that names no project was written before the API service had said whose the gateway's key is:
 * its bodies stay when that project turns out to keep content.
 */
export function createStripBodies(own: (() => Kept | undefined) | undefined): (record: Buffer) => Buffer {
  return (record) => {
    const isKept = projectNamedBy(record) === undefined && own?.()?.isEphemeral === false
    return isKept ? record : withoutBodies(record)
  }
}

interface Kept {
  isEphemeral: boolean
}

/** As ingest takes it; a body may name anything. */
function textFor(text: string | null, maxLength: number): string | null {
  return text === null ? null : text.slice(0, maxLength).toWellFormed().replaceAll('\u0000', '\ufffd')
}

import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The judge's calls may pass through the gateway and come back as jobs: scoring them would feed the scorer its own output for ever.
 * They carry a mark in their metadata, an HMAC over all that the judge was asked. Nobody without the judge's key can make one, and a
 * mark that was seen fits no request that says anything else, so that it is no way around scoring.
 */
export function markOf(request: unknown, key: string): string {
  return createHmac('sha256', key).update(textOf(request)).digest('hex')
}

/** Whether a call is the judge's own. `metadata` is JSON text; `requestBody` what was asked. */
export function isOwnCall(metadata: string | null, requestBody: unknown, key: string | null): boolean {
  if (key === null || metadata?.includes('sluice_judge') !== true) return false
  const mark = Buffer.from(fieldOf(parse(metadata), 'sluice_judge'))
  const expected = Buffer.from(markOf(requestBody, key))
  return mark.length === expected.length && timingSafeEqual(mark, expected)
}

/** What is asked, whatever blanks it was sent with; nothing of what is no JSON. */
function textOf(request: unknown): string {
  if (request === undefined) return ''
  try {
    return JSON.stringify(request)
  } catch {
    return '' // Nested too deep for the stack: nothing that the judge asks, and a mark of nothing is never made.
  }
}

function fieldOf(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return ''
  const field = (value as Readonly<Record<string, unknown>>)[name]
  return typeof field === 'string' ? field : ''
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null // No JSON carries no mark.
  }
}

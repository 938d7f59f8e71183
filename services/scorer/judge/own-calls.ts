import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The judge's own calls may come back through the gateway as jobs; scoring them would loop for ever. Each
 * carries an HMAC over its request in its metadata. A mark cannot be forged without the key, and a copied
 * mark fits no other request, so it cannot be used to avoid scoring.
 */
export function markOf(request: unknown, key: string): string {
  return createHmac('sha256', key).update(textOf(request)).digest('hex')
}

/** True for the judge's own calls. `metadata` is JSON text. */
export function isOwnCall(metadata: string | null, requestBody: unknown, key: string | null): boolean {
  if (key === null || metadata?.includes('sluice_judge') !== true) return false
  const mark = Buffer.from(fieldOf(parse(metadata), 'sluice_judge'))
  const expected = Buffer.from(markOf(requestBody, key))
  return mark.length === expected.length && timingSafeEqual(mark, expected)
}

/** Canonical JSON text of the request, white space removed. Empty if it is not JSON. */
function textOf(request: unknown): string {
  if (request === undefined) return ''
  try {
    return JSON.stringify(request)
  } catch {
    return '' // Too deeply nested for the stack: never the judge's request.
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
    return null
  }
}

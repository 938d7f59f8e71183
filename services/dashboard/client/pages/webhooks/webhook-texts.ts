import type { Item } from '../../api/call-api.ts'

export type Webhook = Item<'GET /api/v1/webhooks'>

/** Event types as shown on the page. */
export const eventNames = {
  threat_detected: 'Threats detected',
  usage_alert: 'Usage alerts and new tools',
  redteam_complete: 'Red-team runs completed',
  finding_opened: 'Findings opened',
  finding_reopened: 'Findings reopened',
  finding_acknowledged: 'Findings acknowledged',
  finding_resolved: 'Findings resolved',
  alert_fired: 'Alert rules that fire',
  alert_recovered: 'Alert rules that recover',
} as const

export const severities = ['critical', 'high', 'medium'] as const

/** A webhook's structured filters, in one line. */
export function describeFilters({ severity = [], scorer_name: scorers = [] }: Webhook['filters']): string {
  const parts = [severity.join(', '), scorers.join(', ')].filter((part) => part !== '')
  return parts.length === 0 ? 'Everything' : parts.join(' · ')
}

/** How a receiver verifies a delivery: raw bytes, the secret as shown, constant-time comparison. */
export function verificationSample(language: 'TypeScript' | 'Python'): string {
  return samples[language]
}

const samples = {
  TypeScript: `import { createHmac, timingSafeEqual } from 'node:crypto'

// rawBody: the bytes as they came, before any JSON parser
export function isFromSluice(rawBody: Buffer, header: string, secret: string): boolean {
  const expected = 'sha256=' + createHmac('sha256', secret).update(rawBody).digest('hex')
  const given = Buffer.from(header)
  return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected))
}`,
  Python: `import hashlib
import hmac

# raw_body: the bytes as they came, before any JSON parser
def is_from_sluice(raw_body: bytes, header: str, secret: str) -> bool:
    expected = "sha256=" + hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(header, expected)`,
}

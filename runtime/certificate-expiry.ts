import { X509Certificate } from 'node:crypto'
import { messageOf } from './errors.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** When the first of the certificates in a PEM text ends, Unix seconds; undefined when there is none in it. Throws for one that cannot be read. */
export function firstExpiry(pem: string): number | undefined {
  const ends = (pem.match(certificate) ?? []).map((text) => new X509Certificate(text).validToDate.getTime())
  return ends.length === 0 ? undefined : Math.min(...ends) / 1_000
}

/** Tells when each certificate of the configuration ends: an expired authority is an outage that everybody could have seen coming. */
export function measureCertificates(
  config: Readonly<Record<string, unknown>>,
  { metrics, log }: { metrics: Metrics; log: Log },
): void {
  const expiry = metrics.gauge(
    'sluice_certificate_expiry_timestamp_seconds',
    'When the first certificate of a variable ends.',
    ['variable'],
    'max',
  )
  for (const [variable, value] of Object.entries(config)) {
    if (typeof value !== 'string' || !value.includes('-----BEGIN CERTIFICATE-----')) continue
    try {
      const ends = firstExpiry(value)
      if (ends !== undefined) expiry.set({ variable }, ends)
    } catch (error) {
      log.warn({ variable, reason: messageOf(error) }, 'a certificate cannot be read')
    }
  }
}

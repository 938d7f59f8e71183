import { readFileSync } from 'node:fs'
import { tlsFilesOf } from './config-addresses.ts'
import { messageOf } from './errors.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { readCertificates } from './read-certificates.ts'

/**
 * When the first certificate of a PEM text expires, in Unix seconds; undefined: it has none. Throws for an
 * unreadable one.
 */
export function firstExpiry(pem: string): number | undefined {
  const ends = readCertificates(pem).map(({ validToDate }) => validToDate.getTime())
  return ends.length === 0 ? undefined : Math.min(...ends) / 1_000
}

/** When the first certificate of a variable expires, in Unix seconds, or why that is unknown. */
export type Expiry = { variable: string } & ({ ends: number } | { problem: string })

/** The expiry for each variable that holds certificates or names certificate files. */
export function findExpiries(config: Readonly<Record<string, unknown>>): Expiry[] {
  return Object.entries(config).flatMap(([variable, value]): Expiry[] => {
    if (typeof value !== 'string') return []
    try {
      const ends = firstExpiry(variable === 'DATABASE_URL' ? readNamed(value) : value)
      return ends === undefined ? [] : [{ variable, ends }]
    } catch (error) {
      return [{ variable, problem: messageOf(error) }]
    }
  })
}

/** The text of the certificate files that a Postgres URL names. */
function readNamed(url: string): string {
  return tlsFilesOf(url)
    .map(({ path }) => readFileSync(path, 'utf8'))
    .join('\n')
}

/** Exports the expiry of each configured certificate, so that an alert precedes the outage. */
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
  for (const { variable, ...found } of findExpiries(config)) {
    if ('ends' in found) expiry.set({ variable }, found.ends)
    else log.warn({ variable, reason: found.problem }, 'cannot read a certificate')
  }
}

import { hostname } from 'node:os'
import { refuseDestination, type AllowedAddresses } from '#runtime/destination-allow.ts'
import type { OutboundPolicy } from '#runtime/outbound-address.ts'
import { syslogMessage } from '../destinations/render-syslog.ts'
import { jsonTo } from '../destinations/rendered.ts'
import type { HttpSender } from '../destinations/send-http.ts'
import type { SendSyslog } from '../destinations/send-syslog.ts'
import { apiActivityOf, type AuditRow } from './render-api-activity.ts'

/** Where the operator's SIEM is: `AUDIT_STREAM`. */
export type AuditTarget = { url: string } | { host: string; port: number; tls: boolean }

/** Null: the SIEM took all entries. */
export type SendAudit = (rows: readonly AuditRow[]) => Promise<string | null>

export interface SendAuditOptions {
  target: AuditTarget
  /** `Name: value`, for HTTP. */
  header: string | undefined
  http: HttpSender
  sendSyslog: SendSyslog
  policy: OutboundPolicy
  allowed: AllowedAddresses
  version: string
}

/** RFC 5424's log audit. */
const facility = 13

/** Sends entries as OCSF API Activity: a JSON array by HTTP, or a message each by syslog. */
export function createSendAudit(options: SendAuditOptions): SendAudit {
  const { target, header, http, sendSyslog, policy, allowed } = options
  const product = { host: hostname(), version: options.version }
  return async (rows) => {
    const refusal = refuseDestination(target, policy, allowed)
    if (refusal !== undefined) return `the address ${refusal}`
    if ('url' in target) {
      const entries = rows.map((row) => apiActivityOf(row, product))
      const { status, error } = await http.post(jsonTo(target.url, entries, headersOf(header)))
      if (status === null) return error ?? 'no answer'
      return status >= 200 && status < 300 ? null : `the receiver answered ${status}`
    }
    const messages = rows.map((row) =>
      syslogMessage({
        ...{ facility, severity: 6, atMs: row.at.getTime(), host: product.host, appName: 'sluice' },
        ...{ messageId: 'audit', structuredData: '-', message: entryText(row, product) },
      }),
    )
    return sendSyslog(messages, target)
  }
}

/** Within what a syslog server takes of one message: without the detail if it is too long. */
function entryText(row: AuditRow, product: { version: string }): string {
  const text = JSON.stringify(apiActivityOf(row, product))
  return Buffer.byteLength(text) <= maxText
    ? text
    : JSON.stringify(apiActivityOf({ ...row, detail: null }, product))
}
const maxText = 7_500

function headersOf(header: string | undefined): Record<string, string> {
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(header ?? '') ?? []
  return name === undefined || value === undefined ? {} : { [name.toLowerCase()]: value }
}

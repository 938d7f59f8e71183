import type { Settings } from '#schemas/destinations.ts'
import type { Severity } from '#schemas/verdicts.ts'
import { cut } from './disarm.ts'
import type { Notice } from './notice.ts'
import { ocsfOf } from './render-ocsf.ts'

/** RFC 5424: critical, error, warning; informational where the event has no severity. */
const severities: Readonly<Record<Severity, number>> = { critical: 2, high: 3, medium: 4 }
const informational = 6
/** RFC 5424 asks receivers for 2,048 octets; rsyslog cuts at 8,096 unless told, and takes the rest as new. */
const maxMessage = 8_000
/** Of a text in `unmapped`, where the whole does not fit. */
const maxUnmapped = 200
/** The private enterprise number that RFC 5612 keeps for documentation: Sluice has none of its own. */
const sdId = 'sluice@32473'

export interface SyslogSender {
  /** The name of this machine. */
  host: string
  version: string
}

/** One message of RFC 5424, without the frame of RFC 6587. */
export function renderSyslog(notice: Notice, settings: Settings<'syslog'>, sender: SyslogSender): Buffer {
  const head = {
    facility: settings.facility,
    severity: notice.severity === null ? informational : severities[notice.severity],
    atMs: notice.createdAtMs,
    host: sender.host,
    appName: settings.app_name,
    messageId: notice.event,
    structuredData: structuredData(notice),
  }
  const room = maxMessage - syslogMessage({ ...head, message: '' }).length
  const message =
    settings.format === 'ocsf'
      ? fitOcsf(ocsfOf(notice, sender), room)
      : cutBytes(oneLine(lineOf(notice)), room)
  return syslogMessage({ ...head, message })
}

interface SyslogParts {
  facility: number
  severity: number
  atMs: number
  host: string
  appName: string
  messageId: string
  structuredData: string
  /** UTF-8, on one line. */
  message: string
}

/** The header of RFC 5424 before a message. */
export function syslogMessage(parts: SyslogParts): Buffer {
  const header = [
    `<${parts.facility * 8 + parts.severity}>1`,
    new Date(parts.atMs).toISOString(),
    printable(parts.host, 255),
    parts.appName,
    String(process.pid),
    parts.messageId,
    parts.structuredData,
  ]
  return Buffer.from(`${header.join(' ')} \ufeff${parts.message}`)
}

/** As JSON that stays whole: long texts of `unmapped` are cut, or all of it is left out. */
function fitOcsf(finding: Record<string, unknown>, room: number): string {
  const { unmapped, observables: _observables, ...rest } = finding
  const cutTexts = Object.entries(unmapped as Notice['data']).map(([name, value]) => [
    name,
    typeof value === 'string' ? cut(value, maxUnmapped) : value,
  ])
  const forms = [finding, { ...rest, unmapped: Object.fromEntries(cutTexts) as object }, rest]
  const written = forms.map((form) => JSON.stringify(form))
  return written.find((text) => Buffer.byteLength(text) <= room) ?? '{}'
}

function structuredData(notice: Notice): string {
  const parameters = [
    ['eventId', notice.id],
    ['projectId', notice.projectId],
    ['key', notice.dedupKey],
    ['link', notice.link ?? ''],
  ].filter(([, value]) => value !== '')
  return `[${sdId} ${parameters.map(([name, value]) => `${name}="${escapeParameter(value ?? '')}"`).join(' ')}]`
}

function lineOf(notice: Notice): string {
  const facts = notice.facts.map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const quotes = notice.quotes.map(([name, text]) => `${name}=${JSON.stringify(text)}`)
  return [notice.title, ...facts, ...quotes].join(' ')
}

/** RFC 5424, 6.3.3: three characters are escaped in a parameter's value. */
function escapeParameter(value: string): string {
  return oneLine(value).replace(/["\\\]]/g, (mark) => `\\${mark}`)
}

/** A line break would end the message for receivers that split by lines. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}

function printable(text: string, max: number): string {
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, max) || '-'
}

function cutBytes(text: string, max: number): string {
  let shown = cut(text, max)
  while (Buffer.byteLength(shown) > max) shown = cut(shown, Math.max(1, Math.floor(shown.length * 0.9)))
  return shown
}

import express, { type Request, type Response, type Router } from 'express'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { reportsPath } from './security-headers.ts'

/** Anybody can send reports: only known names become labels. */
const directives = [
  'script-src',
  'style-src',
  'img-src',
  'font-src',
  'connect-src',
  'frame-ancestors',
  'form-action',
  'base-uri',
]
const maxReportBytes = 16_384
/** Log limit per minute; all reports are counted. */
const maxLoggedPerMinute = 10

/** Counts violations of the content security policy: something is broken, or somebody is attacking. */
export function createCspReports({ log, metrics }: { log: Log; metrics: Metrics }): Router {
  const reports = metrics.counter(
    'sluice_dashboard_csp_reports_total',
    'What the content security policy refused, as browsers report it',
    ['kind'],
  )
  let logged = { minute: 0, count: 0 }
  const note = (report: CspReport) => {
    const [name = ''] = report.directive.split(/[\s-](?=elem|attr|$)/)
    reports.inc({ kind: directives.find((known) => name.startsWith(known)) ?? 'other' })
    const minute = Math.floor(performance.now() / 60_000)
    if (logged.minute !== minute) logged = { minute, count: 0 }
    if (logged.count++ < maxLoggedPerMinute) log.warn(report, 'the content security policy refused something')
  }
  const router = express.Router()
  router.post(
    reportsPath,
    express.json({
      limit: maxReportBytes,
      type: ['application/csp-report', 'application/reports+json', 'application/json'],
    }),
    (request: Request, response: Response) => {
      for (const report of readReports(request.body)) note(report)
      response.status(204).end()
    },
  )
  return router
}

interface CspReport {
  directive: string
  blocked: string
}

/** Either form: one report under `csp-report`, or a list with a `body` each. */
function readReports(given: unknown): CspReport[] {
  const reports = Array.isArray(given) ? given.slice(0, 20) : [given]
  return reports.map((report) => {
    const { body, 'csp-report': old } = fieldsOf(report)
    const fields = fieldsOf(body ?? old)
    return {
      directive: textOf(
        fields['effectiveDirective'] ?? fields['effective-directive'] ?? fields['violated-directive'],
      ),
      // URLs may contain what people typed; the origin is enough to find the source.
      blocked: textOf(fields['blockedURL'] ?? fields['blocked-uri']).split(/[?#]/)[0] ?? '',
    }
  })
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 200) : ''
}

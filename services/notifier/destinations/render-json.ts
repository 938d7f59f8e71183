import type { Credentials, Settings } from '#schemas/destinations.ts'
import { fillTemplate, type templateFields } from '#schemas/destination-template.ts'
import type { Notice } from './notice.ts'
import { ocsfOf } from './render-ocsf.ts'
import { jsonTo, type Rendered } from './rendered.ts'

/** An event in a template of the owner, or as it is. */
export function renderJson(
  notice: Notice,
  settings: Settings<'json'>,
  { header }: Credentials<'json'>,
): Rendered {
  const own: Readonly<Record<string, unknown>> = fieldsOf(notice)
  const valueOf = (field: string): unknown =>
    (field.startsWith('data.') ? notice.data[field.slice('data.'.length)] : own[field]) ?? null
  const body = settings.template === undefined ? eventOf(notice) : fillTemplate(settings.template, valueOf)
  return jsonTo(settings.url, body, headersOf(header))
}

export function renderOcsf(
  notice: Notice,
  { url }: Settings<'ocsf'>,
  { header }: Credentials<'ocsf'>,
  product: { version: string },
): Rendered {
  return jsonTo(url, ocsfOf(notice, product), headersOf(header))
}

/** An event for Splunk's HTTP Event Collector: `time` in seconds, the event as an object. */
export function renderSplunk(
  notice: Notice,
  { url, index, sourcetype }: Settings<'splunk_hec'>,
  { token }: Credentials<'splunk_hec'>,
): Rendered {
  const event = {
    time: notice.createdAtMs / 1_000,
    source: 'sluice',
    sourcetype,
    ...(index === undefined ? {} : { index }),
    event: eventOf(notice),
  }
  return jsonTo(url, event, { authorization: `Splunk ${token}` })
}

function headersOf(header: Credentials<'json'>['header']): Record<string, string> {
  return header === undefined ? {} : { [header.name.toLowerCase()]: header.value }
}

function eventOf(notice: Notice): Record<string, unknown> {
  const { event, id, createdAtMs, projectId, data } = notice
  return { event, id, created_at: new Date(createdAtMs).toISOString(), project_id: projectId, data }
}

function fieldsOf(notice: Notice): Record<(typeof templateFields)[number], unknown> {
  const { event, id, createdAtMs, projectId, title, severity, link } = notice
  const created_at = new Date(createdAtMs).toISOString()
  return { event, id, created_at, project_id: projectId, title, severity, link }
}

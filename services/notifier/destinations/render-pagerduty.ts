import type { Credentials, Settings } from '#schemas/destinations.ts'
import type { Severity } from '#schemas/verdicts.ts'
import { cut, disarm } from './disarm.ts'
import { textIn, type Notice } from './notice.ts'
import { jsonTo, type Rendered } from './rendered.ts'

/** Limits of the Events API v2. */
const max = { summary: 1_024, dedupKey: 255 } as const

const severities: Readonly<Record<Severity, string>> = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
}

/** An event of the Events API v2. A finding or a rule is one incident: its id is the dedup key. */
export function renderPagerDuty(
  notice: Notice,
  { url }: Settings<'pagerduty'>,
  { routing_key }: Credentials<'pagerduty'>,
): Rendered {
  const details = [...notice.facts, ...notice.quotes].map(([name, value]) => [name, disarm(value)] as const)
  return jsonTo(url, {
    routing_key,
    event_action: notice.action === 'none' ? 'trigger' : notice.action,
    dedup_key: cut(notice.dedupKey, max.dedupKey),
    client: 'Sluice',
    ...(notice.link === null
      ? {}
      : { client_url: notice.link, links: [{ href: notice.link, text: 'Open in Sluice' }] }),
    payload: {
      summary: cut(disarm(notice.title), max.summary),
      source: notice.projectId,
      severity: notice.severity === null ? 'info' : severities[notice.severity],
      timestamp: new Date(notice.createdAtMs).toISOString(),
      component: disarm(textIn(notice.data, 'agent_name')) || 'sluice',
      class: notice.event,
      custom_details: Object.fromEntries<string>([...details, ['event_id', notice.id]]),
    },
  })
}

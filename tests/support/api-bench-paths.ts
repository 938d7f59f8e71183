import pg from 'pg'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { FilledDatabase } from './filled-database.ts'

const dayMs = 86_400_000
const pageRows = 50

/**
 * The paths to measure: first and deep pages of every list, wide and narrow filters, single rows, reports
 * over a day and a quarter.
 */
export async function pathsOf(filled: FilledDatabase): Promise<Record<string, string>> {
  const { startMs, endMs } = filled
  const iso = (ms: number) => new Date(ms).toISOString()
  const day = `start=${iso(endMs - dayMs)}&end=${iso(endMs)}`
  const month = `start=${iso(endMs - 30 * dayMs)}&end=${iso(endMs)}`
  const quarter = `start=${iso(endMs - 90 * dayMs)}&end=${iso(endMs)}`
  const middleMs = startMs + (endMs - startMs) / 2
  const known = await findKnown(filled)
  const filters = {
    'wide model': 'model=gpt-4o-mini',
    'narrow model': 'model=rare-model',
    'narrow provider': 'provider=rare-provider',
    agent: 'agent_name=agent-9',
    'narrow user': 'user_id=user-17',
    'narrow tool': 'tool_name=rare-tool',
    type: 'type=mcp_tool_call',
    session: `session_id=${known.session}`,
    'wide metadata': 'metadata.team=t3',
    'narrow metadata': 'metadata.ticket=17',
    unsafe: 'label=unsafe',
    critical: 'severity=critical',
    'unsafe without probes': 'label=unsafe&include_redteam=false',
    'unsafe of an agent': 'label=unsafe&agent_name=agent-9',
    'unsafe by scorer': 'scorer_name=pii_detection&label=unsafe',
    'no finding': 'verdict=no_finding',
    'partly read': 'verdict=partly_read',
    'partly read, of a scorer': 'verdict=partly_read&scorer_name=pii_detection',
    'unsafe verdict': 'verdict=unsafe',
    'partly read, of a user': 'verdict=partly_read&user_id=user-17',
    'an hour': `start=${iso(middleMs)}&end=${iso(middleMs + 3_600_000)}`,
  }
  return {
    'requests, first page': '/api/requests',
    'requests without probes': '/api/requests?include_redteam=false',
    'requests, page 1000': `/api/requests?cursor=${known.callCursor}`,
    ...Object.fromEntries(
      Object.entries(filters).map(([name, query]) => [`requests, ${name}`, `/api/requests?${query}`]),
    ),
    'one request': `/api/requests/${known.callId}`,
    'who was told of a request': `/api/requests/${known.callId}/deliveries`,
    'scores, first page': '/api/safety-scores',
    'scores, page 1000': `/api/safety-scores?cursor=${known.scoreCursor}`,
    'scores, unsafe': '/api/safety-scores?label=unsafe',
    'scores, from 4': '/api/safety-scores?min_score=4',
    'scores, unsafe of a scorer': '/api/safety-scores?label=unsafe&scorer_name=content_safety',
    'scores without probes': '/api/safety-scores?include_redteam=false',
    'scores, poll': `/api/safety-scores?since=${known.pollCursor}`,
    'summary, a day': `/api/safety-scores/summary?${day}`,
    'summary, a quarter': `/api/safety-scores/summary?${quarter}`,
    status: '/api/status',
    'stats, a day': `/api/stats?${day}`,
    'stats, a quarter': `/api/stats?${quarter}`,
    'stats, a quarter by model': `/api/stats?${quarter}&by=model`,
    'facets, a month': '/api/requests/facets',
    ...Object.fromEntries(
      ['model', 'user', 'metadata.team', 'metadata.ticket', 'agent,metadata.team'].map((by) => [
        `costs, a month by ${by}`,
        `/api/costs?${month}&by=${by}`,
      ]),
    ),
    'costs, a quarter by user': `/api/costs?${quarter}&by=user`,
    'users, a month': `/api/users?${month}`,
    'tools, a month': '/api/tools',
    'sessions, first page': '/api/sessions',
    'sessions of an agent': '/api/sessions?agent_name=agent-9',
    'sessions of a narrow user': '/api/sessions?user_id=user-17',
    'sessions, deep': `/api/sessions?cursor=${known.callCursor}`,
    'one session': `/api/sessions/${known.session}`,
    'export, first byte': '/api/requests/export',
    'export, unsafe, first byte': '/api/requests/export?label=unsafe',
    ...logPaths(known),
  }
}

/** Lists of rows that grow with the number of calls. */
function logPaths({ webhookId, deliveryCursor }: { webhookId: string; deliveryCursor: string }) {
  const deliveries = `/api/v1/webhooks/${webhookId}/deliveries`
  return {
    webhooks: '/api/v1/webhooks',
    'deliveries, first page': deliveries,
    'deliveries, page 100': `${deliveries}?cursor=${deliveryCursor}`,
    'deliveries, failed': `${deliveries}?status=failed`,
    'reviews, first page': '/api/reviews',
    'reviews, disagreeing': '/api/reviews?agrees=false',
    'reviews, narrow reviewer': '/api/reviews?reviewer=seldom',
    'reviews, agreement': '/api/reviews/agreement',
    'erasures, first page': '/api/erasures',
    'erasures, under way': '/api/erasures?status=erasing',
    'dead letters, first page': '/api/dead-letters',
    'dead letters, narrow code': '/api/dead-letters?code=CRASHED',
    'dead letters, dropped': '/api/dead-letters?status=dropped',
  }
}

/** Identifiers and cursors for the paths. Deep cursors point to page 1,000. */
async function findKnown({ url, projectId }: FilledDatabase) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const one = async (sql: string): Promise<string> => {
    const { rows } = await client.query<{ found: string }>(sql, [idToUuid(projectId)])
    return rows[0]?.found ?? ''
  }
  const newest = 'where project_id = $1 order by'
  const behind = `offset ${999 * pageRows} limit 1`
  const call = await one(`select id as found from llm_requests ${newest} created_at desc, id desc ${behind}`)
  const score = await one(
    `select id as found from safety_scores ${newest} request_created_at desc, id desc ${behind}`,
  )
  const withBody = await one(
    `select request_id as found from llm_request_bodies where project_id = $1 limit 1`,
  )
  const session = await one(
    `select session_id as found from llm_requests where project_id = $1 and session_id is not null limit 1`,
  )
  const xid = await one(
    `select max(stored_xid::text::bigint) - 1 as found from safety_scores where project_id = $1 and request_created_at > now() - interval '3 days'`,
  )
  const webhook = await one(
    `select id as found from webhooks where project_id = $1 order by created_at limit 1`,
  )
  const delivery = await one(
    `select id as found from webhook_deliveries ${newest} created_at desc, id desc offset ${99 * pageRows} limit 1`,
  )
  await client.end()
  const cursor = (text: string) => Buffer.from(text).toString('base64url')
  return {
    session,
    webhookId: idFromUuid('webhook', webhook),
    deliveryCursor: cursor(idFromUuid('delivery', delivery)),
    callId: idFromUuid('request', withBody),
    callCursor: cursor(idFromUuid('request', call)),
    scoreCursor: cursor(idFromUuid('score', score)),
    pollCursor: cursor(xid),
  }
}

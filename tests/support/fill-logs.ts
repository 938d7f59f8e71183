import type { Client } from 'pg'
import { idToUuid } from '#schemas/ids.ts'
import { filledDays, type FilledCalls } from './fill-calls.ts'

const dayMs = 86_400_000
/** Each narrow filter matches about this many rows, whatever the total. */
const narrowRows = 100

/** Calls per row, for tables that grow with the calls. */
const rowsPer = { webhooks: 10_000, deliveries: 10, reviews: 1_000, erasures: 1_000, deadLetters: 100 }

// $1: project, $2: start, $3: rows. The newest row has the highest number.
const at = `to_timestamp(($2::bigint + g * ${filledDays * dayMs} / $3::bigint) / 1000.0)`
const id = (what: string) => `bench_id(($2::bigint + g * ${filledDays * dayMs} / $3::bigint), '${what}' || g)`
const series = 'generate_series(0, $3::bigint - 1) g'
const isRare = `g % greatest($3::bigint / ${narrowRows}, 1) = 7 % greatest($3::bigint / ${narrowRows}, 1)`

const webhooksSql = `insert into webhooks (id, project_id, url, events, secret_codec, secret_data, created_at, updated_at)
  select ${id('webhook')}, $1, 'https://example.com/' || g, '{threat_detected}', 'none', '\\x00', ${at}, ${at} from ${series}`

const deliveriesSql = `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, attempt_count,
    created_at, delivered_at)
  select ${id('delivery')}, (select id from webhooks where project_id = $1 order by created_at limit 1), $1, ${id('event')}, 'threat_detected', ${at},
    convert_to(jsonb_build_object('request_id', g, 'prompt_snippet', repeat('words ', 40))::text, 'UTF8'),
    case when ${isRare} then 'failed' else 'delivered' end, 1, ${at}, ${at} from ${series}`

const attemptsSql = `insert into webhook_attempts (delivery_id, number, lease_until, at, finished_at, status_code, duration_ms)
  select ${id('delivery')}, 1, ${at}, ${at}, ${at}, 200, 30 from ${series} where $1::uuid is not null`

const reviewsSql = `insert into score_reviews
  select ${id('review')}, $1, ${id('reviewed')}, ${at}, ${id('score')},
    (array['pii_detection', 'jailbreak_detection', 'content_safety'])[1 + g % 3], '1', 'unsafe', case when g % 5 = 0 then 'safe' else 'unsafe' end, g % 5 <> 0,
    case when ${isRare} then 'seldom' else 'person-' || g % 5 end, 'because', ${at} from ${series}`

const erasuresSql = `insert into erasures (id, project_id, scope, subject, requested_at, requested_by, status, erased_at, kept_in_kafka_until)
  select ${id('erasure')}, $1, 'user', 'gone-' || g, ${at}, 'key', case when ${isRare} then 'erasing' else 'erased' end, ${at}, ${at} from ${series}`

const deadLettersSql = `insert into dead_letters (id, cluster, topic, partition, "offset", code, message, project_id, dead_at, status)
  select ${id('letter')}, 'bench', 'llm.request.logged', 0, g, case when ${isRare} then 'CRASHED' else 'UNDECODABLE' end, 'cannot be read', $1, ${at},
    case when ${isRare} then 'dropped' else 'open' end from ${series}`

/**
 * Fills the tables that grow with the calls (webhooks, deliveries, reviews, erasures, dead letters), unless
 * filled already.
 */
export async function fillLogs(
  client: Client,
  { rows, projectId, startMs }: FilledCalls,
  say: (line: string) => void,
): Promise<void> {
  const steps: [string, number][] = [
    [webhooksSql, Math.max(10, rows / rowsPer.webhooks)],
    [deliveriesSql, rows / rowsPer.deliveries],
    [attemptsSql, rows / rowsPer.deliveries],
    [reviewsSql, rows / rowsPer.reviews],
    [erasuresSql, rows / rowsPer.erasures],
    [deadLettersSql, rows / rowsPer.deadLetters],
  ]
  const project = idToUuid(projectId)
  const present = await client.query('select from webhooks where project_id = $1 limit 1', [project])
  if (present.rowCount === 1) return
  await client.query('begin')
  for (const [sql, count] of steps) await client.query(sql, [project, startMs, count])
  await client.query('commit')
  await client.query('vacuum (analyze)')
  say(`filled the logs of ${rows} calls`)
}

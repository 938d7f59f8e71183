import type { Dashboard } from '../build-dashboard.ts'

/**
 * Projects and their usage, from Postgres: projects must not be labels in Prometheus (docs/decisions/0080).
 */
export const tenants: Dashboard = {
  name: 'tenants',
  title: 'tenants',
  rows: [
    {
      title: 'Use',
      panels: [
        {
          title: 'Calls an hour, of the ten largest',
          ask: [
            {
              sql: `with largest as (
  select project_id from call_rollups where $__timeFilter(hour) group by 1 order by sum(calls) desc limit 10
)
select hour as time, name as metric, sum(calls)::float8 as calls
from call_rollups join largest using (project_id) join projects on projects.id = project_id
where $__timeFilter(hour) group by 1, 2 order by 1`,
            },
          ],
        },
        {
          title: 'Calls, tokens, cost',
          kind: 'table',
          ask: [
            {
              sql: `select name as project, sum(calls)::float8 as calls, sum(failed)::float8 as failed,
  sum(prompt_tokens + cached_tokens + completion_tokens + reasoning_tokens)::float8 as tokens, round(sum(cost_picodollars) / 1e12, 4)::float8 as usd
from call_rollups join projects on projects.id = project_id
where $__timeFilter(hour) group by projects.id, name order by 2 desc limit 50`,
            },
          ],
        },
        {
          title: 'Quota of the period',
          kind: 'table',
          ask: [
            {
              sql: `select name as project, tier, requests_this_period, request_limit,
  round(100.0 * requests_this_period / request_limit, 1)::float8 as percent, period_reset_at
from subscriptions join projects on projects.id = project_id join tiers using (tier)
order by percent desc nulls last, requests_this_period desc limit 50`,
            },
          ],
        },
      ],
    },
    {
      title: 'Safety and cost',
      panels: [
        {
          title: 'Calls that are unsafe',
          kind: 'table',
          ask: [
            {
              sql: `select name as project, sum(verdict_unsafe)::float8 as unsafe, sum(severity_critical)::float8 as critical,
  sum(verdict_unscored)::float8 as unscored, round(100.0 * sum(verdict_unsafe) / nullif(sum(calls), 0), 2)::float8 as percent
from call_rollups join projects on projects.id = project_id
where $__timeFilter(hour) group by projects.id, name order by 2 desc limit 50`,
            },
          ],
        },
        {
          title: 'What the judge cost in the period',
          kind: 'table',
          ask: [
            {
              sql: `select name as project, spent_usd::float8, reserved_usd::float8, judge_usd_per_period::float8 as cap, calls
from judge_spend join projects on projects.id = project_id
where period_reset_at > now() order by 2 desc limit 50`,
            },
          ],
        },
        {
          title: 'Deliveries of the last day',
          kind: 'table',
          ask: [
            {
              sql: `select name as project, status, count(*)
from webhook_deliveries join projects on projects.id = project_id
where webhook_deliveries.created_at > now() - interval '1 day' group by projects.id, name, status order by 3 desc limit 50`,
            },
          ],
        },
      ],
    },
  ],
}

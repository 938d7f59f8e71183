import type { Knex } from 'knex'
import { requestLimitOf, tiers } from '#schemas/tiers.ts'

const tierList = tiers.map((tier) => `'${tier}'`).join(', ')

/** Projects, their keys, subscriptions and quota. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table tiers (tier text primary key check (tier in (${tierList})), request_limit bigint);

    create table projects (
      id uuid primary key,
      name text not null,
      zero_content_retention boolean not null default false,
      retention_days integer check (retention_days between 1 and 90),
      cost_alert_usd numeric check (cost_alert_usd >= 0),
      quota_warning_percent integer check (quota_warning_percent between 1 and 100),
      judge_mode text not null default 'always' check (judge_mode in ('always', 'uncertain', 'never')),
      judge_usd_per_period numeric check (judge_usd_per_period >= 0),
      sampling jsonb not null default '{}',
      created_at timestamptz not null
    );

    create table api_keys (
      id uuid primary key,
      project_id uuid not null references projects (id),
      name text not null,
      label text,
      secret_sha256 bytea not null unique,
      last4 text not null,
      scope text not null default 'all' check (scope in ('ingest', 'read', 'all')),
      created_at timestamptz not null,
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz
    );
    create index api_keys_project on api_keys (project_id, created_at);

    create table subscriptions (
      project_id uuid primary key references projects (id),
      tier text not null references tiers (tier),
      payment_customer_id text,
      payment_subscription_id text,
      status text not null default 'active',
      requests_this_period bigint not null default 0,
      period_start timestamptz not null,
      period_reset_at timestamptz not null,
      period_anchor timestamptz not null,
      quota_alerted boolean not null default false
    );

    -- One row a request admitted under a limit: a repeated id costs nothing.
    create table quota_claims (
      project_id uuid not null,
      period_start timestamptz not null,
      request_id uuid not null,
      claimed_at timestamptz not null default now(),
      primary key (project_id, request_id, period_start)
    ) partition by range (period_start);
    create table quota_claims_default partition of quota_claims default;
  `)
  for (const tier of tiers) await knex('tiers').insert({ tier, request_limit: requestLimitOf[tier] })
  await knex.raw(rollPeriod)
  await knex.raw(admitRequests)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function admit_requests(uuid, uuid[], timestamptz);
    drop function roll_period(uuid, timestamptz);
    drop table quota_claims, subscriptions, api_keys, projects, tiers;
  `)
}

/** Moves a project's period on to the one that `p_now` is in. Months in UTC counted from the anchor. Locks the row. */
const rollPeriod = `
  create function roll_period(p_project uuid, p_now timestamptz) returns subscriptions language plpgsql as $$
  declare
    v_row subscriptions;
    v_months integer;
    v_anchor timestamp;
  begin
    select * into v_row from subscriptions where project_id = p_project for update;
    if not found or p_now < v_row.period_reset_at then return v_row; end if;
    v_anchor := v_row.period_anchor at time zone 'UTC';
    -- Counted from the anchor each time: adding a month to a 28th that was a 31st would never come back.
    v_months := (extract(year from age(p_now at time zone 'UTC', v_anchor)) * 12
               + extract(month from age(p_now at time zone 'UTC', v_anchor)))::integer;
    while (v_anchor + make_interval(months => v_months)) at time zone 'UTC' > p_now loop v_months := v_months - 1; end loop;
    while (v_anchor + make_interval(months => v_months + 1)) at time zone 'UTC' <= p_now loop v_months := v_months + 1; end loop;
    update subscriptions set
      requests_this_period = 0,
      quota_alerted = false,
      period_start = (v_anchor + make_interval(months => v_months)) at time zone 'UTC',
      period_reset_at = (v_anchor + make_interval(months => v_months + 1)) at time zone 'UTC'
    where project_id = p_project returning * into v_row;
    return v_row;
  end $$;
`

/**
 * Admits the ids that fit, in their order, and moves the counter by exactly the new ones. \`o_crossed\` is true in the one
 * call of a period that first refuses: its caller raises usage_alert in the same transaction.
 */
const admitRequests = `
  create function admit_requests(
    p_project uuid, p_ids uuid[], p_now timestamptz,
    out o_admitted uuid[], out o_tier text, out o_limit bigint, out o_count bigint,
    out o_period_start timestamptz, out o_period_reset_at timestamptz, out o_crossed boolean
  ) language plpgsql as $$
  declare
    v_row subscriptions;
    v_known uuid[];
    v_new uuid[];
  begin
    v_row := roll_period(p_project, p_now);
    if v_row.project_id is null then raise exception 'project % has no subscription', p_project using errcode = 'no_data_found'; end if;
    o_tier := v_row.tier; o_count := v_row.requests_this_period; o_crossed := false;
    o_period_start := v_row.period_start; o_period_reset_at := v_row.period_reset_at;
    select request_limit into o_limit from tiers where tier = v_row.tier;
    if o_limit is null then o_admitted := p_ids; return; end if;

    -- The period before counts too: a retry across the boundary has been paid for.
    select coalesce(array_agg(distinct request_id), '{}') into v_known from quota_claims
      where project_id = p_project and request_id = any (p_ids) and period_start >= v_row.period_start - interval '32 days';
    select coalesce(array_agg(id order by place), '{}') into v_new from (
      select id, min(place) as place from unnest(p_ids) with ordinality as wanted (id, place)
      where id <> all (v_known) group by id order by 2 limit greatest(o_limit - o_count, 0)
    ) fitting;
    insert into quota_claims (project_id, period_start, request_id) select p_project, v_row.period_start, unnest(v_new);
    o_admitted := v_known || v_new;
    o_count := o_count + cardinality(v_new);
    o_crossed := not v_row.quota_alerted and exists (select 1 from unnest(p_ids) as wanted (id) where id <> all (o_admitted));
    update subscriptions set requests_this_period = o_count, quota_alerted = quota_alerted or o_crossed where project_id = p_project;
  end $$;
`

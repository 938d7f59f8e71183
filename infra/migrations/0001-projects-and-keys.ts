import type { Knex } from 'knex'
import { requestLimitOf, tiers } from '#schemas/tiers.ts'

const tierList = tiers.map((tier) => `'${tier}'`).join(', ')

/** Projects, their keys, subscriptions and gateways; and the keys that seal bodies. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(projectTables)
  for (const tier of tiers) await knex('tiers').insert({ tier, request_limit: requestLimitOf[tier] })
  await knex.raw(accessFunctions)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function note_key_uses(uuid[], timestamptz[]);
    drop function find_api_key(bytea);
    drop table body_keys, gateways, subscriptions, api_keys, projects, tiers;
  `)
}

const projectTables = `
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
    quota_alerted boolean not null default false,
    warning_alerted boolean not null default false,
    cost_alerted boolean not null default false,
    -- The payment provider's event that changed this row last: older ones and repeats change nothing.
    payment_event_id text,
    payment_event_at timestamptz,
    -- Events have whole seconds: within one, created comes before updated and updated before deleted.
    payment_event_rank integer,
    -- The provider's page that the project was sent to last. It is closed before another is opened.
    payment_checkout_id text
  );
  create index subscriptions_payment on subscriptions (payment_subscription_id) where payment_subscription_id is not null;

  -- What each gateway last reported. Its project is null where it records for many, as the operator.
  create table gateways (
    project_id uuid references projects (id) on delete cascade,
    name text not null,
    version text not null,
    delivery text not null check (delivery in ('api', 'kafka')),
    started_at timestamptz(3) not null,
    seen_at timestamptz(3) not null,
    spool_records bigint not null,
    spool_bytes bigint not null,
    -- Null: nothing waits.
    spool_oldest_at timestamptz(3),
    lost jsonb not null,
    problems jsonb not null,
    unique nulls not distinct (project_id, name)
  );

  -- Since when an encryption key no longer encrypts: topics may hold what it sealed for weeks more.
  create table body_keys (
    key_id text primary key,
    -- Null: it encrypts.
    retired_at timestamptz(3)
  );
`

/**
 * What the API may do across projects without being the operator. With the owner's rights and a fixed path:
 * otherwise a caller could put tables of its own in front of these.
 */
const accessFunctions = `
  do $do$ begin
    execute format($function$
      create function find_api_key(p_sha256 bytea)
        returns table (id uuid, scope text, expires_at timestamptz, project_id uuid, tier text, zero_content_retention boolean)
        language sql stable security definer set search_path = %1$I, pg_temp as $$
            select k.id, k.scope, k.expires_at, p.id, s.tier, p.zero_content_retention
            from api_keys k join projects p on p.id = k.project_id join subscriptions s on s.project_id = p.id
            where k.secret_sha256 = p_sha256 and k.revoked_at is null
          $$
    $function$, current_schema());
    revoke all on function find_api_key(bytea) from public;

    -- Never back: processes write at their own times.
    execute format($function$
      create function note_key_uses(p_keys uuid[], p_times timestamptz[]) returns void
        language sql security definer set search_path = %1$I, pg_temp as $$
            update api_keys k set last_used_at = used.at
            from (select * from unnest(p_keys, p_times) as given (id, at) order by id) used
            where k.id = used.id and (k.last_used_at is null or k.last_used_at < used.at)
          $$
    $function$, current_schema());
    revoke all on function note_key_uses(uuid[], timestamptz[]) from public;
  end $do$;
`

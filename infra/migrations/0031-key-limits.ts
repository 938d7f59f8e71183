import type { Knex } from 'knex'

/** What a key records of its calls, and what it may do: keys for people. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(columns)
  await knex.raw(findKey)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function find_key(bytea);
    alter table gateways drop column left_out;
    alter table api_keys drop column user_id, drop column team, drop column models, drop column capture,
      drop column rate_limit_per_minute, drop column monthly_budget_usd, drop column when_unknown;
  `)
}

const columns = `
  alter table api_keys
    -- Recorded with calls that name none.
    add column user_id text,
    add column team text,
    -- Names, or beginnings that end in *. Null: any model.
    add column models text[],
    add column capture text not null default 'full' check (capture in ('full', 'metadata', 'none')),
    add column rate_limit_per_minute integer check (rate_limit_per_minute >= 1),
    add column monthly_budget_usd numeric check (monthly_budget_usd >= 0),
    add column when_unknown text not null default 'stop' check (when_unknown in ('stop', 'allow'));

  -- Calls that were forwarded and not recorded, by project and reason.
  alter table gateways add column left_out jsonb not null default '{}';
`

/** As find_api_key, which processes of the version before still call, with the limits. */
const findKey = `
  do $do$ begin
    execute format($function$
      create function find_key(p_sha256 bytea)
        returns table (
          id uuid, scope text, expires_at timestamptz, project_id uuid, tier text, zero_content_retention boolean,
          user_id text, team text, models text[], capture text, rate_limit_per_minute integer,
          monthly_budget_usd numeric, when_unknown text
        )
        language sql stable security definer set search_path = %1$I, pg_temp as $$
            select k.id, k.scope, k.expires_at, p.id, s.tier, p.zero_content_retention,
              k.user_id, k.team, k.models, k.capture, k.rate_limit_per_minute, k.monthly_budget_usd, k.when_unknown
            from api_keys k join projects p on p.id = k.project_id join subscriptions s on s.project_id = p.id
            where k.secret_sha256 = p_sha256 and k.revoked_at is null
          $$
    $function$, current_schema());
    revoke all on function find_key(bytea) from public;
  end $do$;
`

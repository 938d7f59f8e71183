import type { Knex } from 'knex'

/** Calls whose words are log records of their own: span and words wait for each other (services/ingest). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table waiting_calls (
      project_id uuid not null references projects (id) on delete cascade,
      -- Hashed from project, trace and span.
      id uuid not null,
      -- Sealed JSON: the span and its words. Null: published, and what still comes is dropped.
      codec text, key_id text, data bytea,
      -- Of the JSON.
      bytes integer not null,
      has_span boolean not null,
      -- How often something was added.
      version integer not null default 1,
      since timestamptz(3) not null,
      -- When it is published, or deleted without a span or once published.
      due_at timestamptz(3) not null,
      -- Until then the process that took it has it to itself.
      lease_until timestamptz(3),
      primary key (project_id, id)
    ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
    create index waiting_calls_due on waiting_calls (due_at);
    ${functions}
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function projects_with_due_calls(timestamptz), count_waiting_calls();
    drop table waiting_calls;
  `)
}

/** What ingest may ask of all projects. */
const functions = `
  do $do$ begin
    execute format($function$
      create function projects_with_due_calls(p_now timestamptz) returns table (project_id uuid)
        language sql stable security definer set search_path = %1$I, pg_temp as $$
            select distinct due.project_id from (
              select w.project_id from waiting_calls w
              where w.due_at <= p_now and (w.lease_until is null or w.lease_until <= p_now) order by w.due_at limit 10000
            ) due
          $$
    $function$, current_schema());
    revoke all on function projects_with_due_calls(timestamptz) from public;

    execute format($function$
      create function count_waiting_calls() returns table (calls bigint, bytes bigint)
        language sql stable security definer set search_path = %1$I, pg_temp as $$
            select count(*), coalesce(sum(w.bytes), 0) from waiting_calls w where w.codec is not null
          $$
    $function$, current_schema());
    revoke all on function count_waiting_calls() from public;
  end $do$;
`

import type { Knex } from 'knex'

const latencies = Array.from({ length: 40 }, (_, bucket) => `latency_${String(bucket).padStart(2, '0')}`)
const added = ['priced bigint', 'cached_tokens numeric', 'reasoning_tokens numeric']

/** Counts by user, and what costs need of the counts by label (docs/decisions/0117). */
export async function up(knex: Knex): Promise<void> {
  for (const table of ['label_rollups', 'label_rollups_by_day']) {
    await knex.raw(
      `alter table ${table} ${added.map((column) => `add column ${column} not null default 0`).join(', ')}`,
    )
  }
  await knex.raw(`
    -- Calls with a user, by the hour.
    create table user_rollups (
      project_id uuid not null,
      hour timestamptz(0) not null,
      series uuid not null,
      lane integer not null,
      is_other boolean not null,
      source text, user_id text,
      calls bigint not null, failed bigint not null,
      prompt_tokens numeric not null, completion_tokens numeric not null,
      cached_tokens numeric not null, reasoning_tokens numeric not null,
      priced bigint not null, cost_picodollars numeric not null,
      verdict_safe bigint not null, verdict_unscored bigint not null, verdict_unsafe bigint not null,
      ${latencies.map((name) => `${name} bigint`).join(', ')},
      last_at timestamptz(3) not null,
      primary key (project_id, hour, series, lane)
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
    create index user_rollups_lanes on user_rollups (hour, project_id) where lane >= 0;
    create index user_rollups_hour on user_rollups using brin (hour);
    create table user_rollups_by_day (like user_rollups including defaults including constraints);
    alter table user_rollups_by_day add primary key (project_id, hour, series);
    insert into rollup_days (name) values ('user_rollups');

    -- For reports over all projects.
    create index call_rollups_by_day_hour on call_rollups_by_day using brin (hour);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index call_rollups_by_day_hour;
    drop table user_rollups_by_day, user_rollups;
    delete from rollup_days where name = 'user_rollups';
  `)
  const names = added.map((column) => column.split(' ')[0])
  for (const table of ['label_rollups', 'label_rollups_by_day']) {
    await knex.raw(`alter table ${table} ${names.map((name) => `drop column ${name}`).join(', ')}`)
  }
}

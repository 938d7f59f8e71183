import type { Knex } from 'knex'

const latencies = Array.from({ length: 40 }, (_, bucket) => `latency_${String(bucket).padStart(2, '0')}`)
const labels = ['label_1', 'label_2', 'label_3']

/** Counts by tool and by the metadata keys that a project declares (docs/decisions/0099). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- [{ name, counted_from }], by name: values of calls from that time on are counted apart.
    alter table projects add column metadata_keys jsonb not null default '[]';

    alter table call_minutes add column tool_name text, ${labels.map((name) => `add column ${name} text`).join(', ')};

    -- Calls with a tool or a declared key, by the hour.
    create table label_rollups (
      project_id uuid not null,
      hour timestamptz(0) not null,
      series uuid not null,
      lane integer not null,
      is_other boolean not null,
      source text, model text, provider text, agent_name text, tool_name text,
      ${labels.map((name) => `${name} text`).join(', ')},
      calls bigint not null, failed bigint not null,
      prompt_tokens numeric not null, completion_tokens numeric not null,
      cost_picodollars numeric not null,
      verdict_safe bigint not null, verdict_unscored bigint not null, verdict_unsafe bigint not null,
      severity_high bigint not null, severity_critical bigint not null,
      readings bigint not null, not_read bigint not null,
      ${latencies.map((name) => `${name} bigint`).join(', ')},
      primary key (project_id, hour, series, lane)
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
    create index label_rollups_lanes on label_rollups (hour, project_id) where lane >= 0;
    create index label_rollups_hour on label_rollups using brin (hour);
    create table label_rollups_by_day (like label_rollups including defaults including constraints);
    alter table label_rollups_by_day add primary key (project_id, hour, series);
    insert into rollup_days (name) values ('label_rollups');
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table label_rollups_by_day, label_rollups;
    delete from rollup_days where name = 'label_rollups';
    alter table call_minutes drop column tool_name, ${labels.map((name) => `drop column ${name}`).join(', ')};
    alter table projects drop column metadata_keys;
  `)
}

import type { Knex } from 'knex'

const latencies = Array.from({ length: 40 }, (_, bucket) => `latency_${String(bucket).padStart(2, '0')}`)

/** Counts by the hour that the sink keeps beside the rows they count: docs/decisions/0006. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Sums that hostile numbers could overflow are numeric: an overflow would refuse the whole batch.
    create table call_rollups (
      project_id uuid not null,
      hour timestamptz(0) not null,
      series uuid not null,
      lane integer not null,
      is_other boolean not null,
      source text, model text, provider text, agent_name text,
      calls bigint not null,
      failed bigint not null,
      aborted bigint not null,
      status_2xx bigint not null, status_3xx bigint not null, status_4xx bigint not null, status_5xx bigint not null,
      prompt_tokens numeric not null, completion_tokens numeric not null,
      cached_tokens numeric not null, reasoning_tokens numeric not null,
      priced bigint not null,
      cost_picodollars numeric not null,
      verdict_safe bigint not null, verdict_unscored bigint not null, verdict_unsafe bigint not null,
      severity_medium bigint not null, severity_high bigint not null, severity_critical bigint not null,
      ${latencies.map((name) => `${name} bigint`).join(', ')},
      primary key (project_id, hour, series, lane)
    ) with (fillfactor = 70);

    create table score_rollups (
      project_id uuid not null,
      hour timestamptz(0) not null,
      series uuid not null,
      lane integer not null,
      is_other boolean not null,
      run_id uuid not null,
      source text, scorer_name text, score_label text, severity text,
      scores bigint not null,
      valued bigint not null,
      value_micros numeric not null,
      primary key (project_id, hour, series, lane)
    ) with (fillfactor = 70);

    create table tool_rollups (
      project_id uuid not null,
      hour timestamptz(0) not null,
      series uuid not null,
      lane integer not null,
      is_other boolean not null,
      source text, tool_name text, agent_name text,
      calls bigint not null,
      failed bigint not null,
      requested bigint not null,
      last_at timestamptz(3) not null,
      primary key (project_id, hour, series, lane)
    ) with (fillfactor = 70);

    -- What waits to be folded into one row a series, and nothing else.
    create index call_rollups_lanes on call_rollups (hour, project_id) where lane >= 0;
    create index score_rollups_lanes on score_rollups (hour, project_id) where lane >= 0;
    create index tool_rollups_lanes on tool_rollups (hour, project_id) where lane >= 0;
    -- For what spans all projects: rows come nearly in the order of their hours.
    create index call_rollups_hour on call_rollups using brin (hour);
    create index score_rollups_hour on score_rollups using brin (hour);
    create index tool_rollups_hour on tool_rollups using brin (hour);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table tool_rollups, score_rollups, call_rollups;')
}

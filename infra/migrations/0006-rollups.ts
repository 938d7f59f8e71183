import type { Knex } from 'knex'

const tables = ['call_rollups', 'score_rollups', 'tool_rollups']
const latencies = Array.from({ length: 40 }, (_, bucket) => `latency_${String(bucket).padStart(2, '0')}`)
const storage = 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000'

/**
 * Counts by the hour that the sink keeps beside the rows they count, and by the day once it is over:
 * docs/decisions/0006.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(hourTables)
  for (const table of tables) {
    await knex.raw(`
      -- What waits to be folded into one row a series, and nothing else.
      create index ${table}_lanes on ${table} (hour, project_id) where lane >= 0;
      -- For what spans all projects: rows come nearly in the order of their hours.
      create index ${table}_hour on ${table} using brin (hour);

      create table ${table}_by_day (like ${table} including defaults including constraints);
      alter table ${table}_by_day add primary key (project_id, hour, series);
    `)
  }
  await knex.raw(`
    create index score_rollups_run on score_rollups (run_id, hour);

    -- Days before this one are counted by the day. Null: none yet.
    create table rollup_days (name text primary key, counted_until timestamptz);
    insert into rollup_days (name) select unnest(array['${tables.join("', '")}']);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    `drop table rollup_days, ${tables.flatMap((table) => [`${table}_by_day`, table]).join(', ')}`,
  )
}

// Sums that hostile numbers could overflow are numeric: an overflow would refuse the whole batch.
const hourTables = `
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
  ) with (${storage});

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
  ) with (${storage});

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
  ) with (${storage});
`

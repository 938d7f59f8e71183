import type { Knex } from 'knex'

const latencies = Array.from({ length: 40 }, (_, bucket) => `latency_${String(bucket).padStart(2, '0')}`)
const storage = 'fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000'

/** Alert rules with where each stands, and the counts by the minute that they are evaluated on. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table alert_rules (
      id uuid primary key,
      project_id uuid not null references projects (id) on delete cascade,
      name text not null,
      enabled boolean not null,
      -- Checked by schemas/alert-rule.ts.
      metric text not null,
      filter jsonb not null,
      window_minutes integer not null check (window_minutes between 5 and 1440),
      direction text not null check (direction in ('above', 'below')),
      warning_threshold double precision,
      alert_threshold double precision not null,
      for_minutes integer not null check (for_minutes between 0 and 1440),
      cooldown_minutes integer not null check (cooldown_minutes between 0 and 10080),
      compare text not null check (compare in ('none', 'last_week')),
      -- Made with the project, not by a person.
      is_built_in boolean not null default false,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null
    );
    create index alert_rules_recent on alert_rules (project_id, created_at desc, id desc);

    create table alert_states (
      rule_id uuid primary key references alert_rules (id) on delete cascade,
      project_id uuid not null,
      status text not null check (status in ('ok', 'warning', 'alert', 'no_data', 'late')),
      since timestamptz(3) not null,
      warning_since timestamptz(3), alert_since timestamptz(3),
      -- What receivers know.
      told_level text check (told_level in ('warning', 'alert')), told_since timestamptz(3),
      fired_level text check (fired_level in ('warning', 'alert')), fired_at timestamptz(3),
      -- Events so far: each has an identifier of its own.
      changes bigint not null default 0,
      value double precision, compared_with double precision,
      -- End of the window that was read last.
      evaluated_until timestamptz(3),
      due_at timestamptz(3) not null
    ) with (${storage});
    create index alert_states_due on alert_states (due_at);

    ${minuteTables}
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table score_minutes, call_minutes, alert_states, alert_rules')
}

const minuteTables = `
  create table call_minutes (
    project_id uuid not null,
    minute timestamptz(0) not null,
    series uuid not null,
    lane integer not null,
    is_other boolean not null,
    source text, model text, provider text, agent_name text,
    calls bigint not null, failed bigint not null,
    prompt_tokens numeric not null, completion_tokens numeric not null,
    cost_picodollars numeric not null,
    verdict_safe bigint not null, verdict_unscored bigint not null, verdict_unsafe bigint not null,
    severity_high bigint not null, severity_critical bigint not null,
    readings bigint not null, not_read bigint not null,
    ${latencies.map((name) => `${name} bigint`).join(', ')},
    primary key (project_id, minute, series, lane)
  ) with (${storage});
  create index call_minutes_age on call_minutes using brin (minute);

  create table score_minutes (
    project_id uuid not null,
    minute timestamptz(0) not null,
    series uuid not null,
    lane integer not null,
    is_other boolean not null,
    source text, scorer_name text, score_label text, severity text,
    scores bigint not null,
    primary key (project_id, minute, series, lane)
  ) with (${storage});
  create index score_minutes_age on score_minutes using brin (minute);
`

import type { Knex } from 'knex'

/** Rules that mark known false alarms, what each has covered, and the mark on the score. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table suppressions (
      id uuid primary key,
      project_id uuid not null references projects (id) on delete cascade,
      scorer_name text not null,
      -- Null: any. All that are given must fit.
      kind text,
      agent_name text,
      tool_name text,
      value_hash bytea check (octet_length(value_hash) = 16),
      -- Stays when the hash is forgotten: a suppression of one value never becomes one of all.
      has_value boolean not null,
      max_severity text not null check (max_severity in ('medium', 'high', 'critical')),
      -- Of whose score it was made: erased with that call.
      request_id uuid,
      reason text not null,
      author text not null,
      author_kind text not null check (author_kind in ('person', 'key', 'operator')),
      created_at timestamptz(3) not null,
      expires_at timestamptz(3),
      revoked_at timestamptz(3),
      check (max_severity <> 'critical' or expires_at is not null)
    );
    create index suppressions_recent on suppressions (project_id, created_at desc, id desc);
    create index suppressions_ended on suppressions (least(revoked_at, expires_at));
    create index suppressions_open on suppressions (project_id) where revoked_at is null;

    -- A row for each partition of the scores' topic, so that sinks do not wait for each other.
    create table suppression_counts (
      project_id uuid not null,
      suppression_id uuid not null,
      lane integer not null,
      covered bigint not null,
      last_covered_at timestamptz(3) not null,
      primary key (project_id, suppression_id, lane)
    );

    alter table safety_scores add column suppressed_by uuid;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table safety_scores drop column suppressed_by;
    drop table suppression_counts, suppressions;
  `)
}

import type { Knex } from 'knex'

/** Runs that score history again: what each is of, how far it is. The sinks carry them out; whoever holds a row's lock works on it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table score_runs (
      id uuid primary key,
      -- Null: of all projects.
      project_id uuid,
      start_at timestamptz(3) not null,
      end_at timestamptz(3) not null check (end_at > start_at),
      -- Null: those of each call's tier and the custom ones.
      scorers text[],
      source text not null check (source in ('postgres', 'kafka')),
      alert boolean not null,
      status text not null check (status in ('queued', 'feeding', 'scoring', 'done', 'cancelled', 'failed', 'promoting', 'promoted')),
      calls_total bigint not null,
      calls_fed bigint not null default 0,
      calls_scored bigint not null default 0,
      -- Where the feeding, later the promotion goes on: behind this call of this project.
      cursor_project uuid,
      cursor_at timestamptz(3),
      cursor_id uuid,
      -- Of source kafka: the next and the last offset of each partition.
      offsets jsonb,
      problem text,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null default now(),
      finished_at timestamptz(3)
    );
    create index score_runs_recent on score_runs (created_at desc, id desc);
    create index score_runs_open on score_runs (created_at) where status in ('queued', 'feeding', 'scoring', 'promoting');
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table score_runs')
}

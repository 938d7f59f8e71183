import type { Knex } from 'knex'

/** Previews of a project's scorers on its past calls. The API orders them, scorers carry them out. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table scorer_previews (
      id uuid primary key,
      project_id uuid not null references projects (id),
      -- A scorer as project_scorers has it: name, definition, severity.
      scorer jsonb not null,
      days integer not null check (days between 1 and 30),
      -- The scorer whose reviews it is compared with; null: all.
      reviews_of text,
      status text not null default 'queued' check (status in ('queued', 'running', 'done', 'failed')),
      -- Until then the scorer that took it has it to itself.
      lease_until timestamptz,
      tries integer not null default 0,
      problem text,
      -- Counts, without content.
      report jsonb,
      -- Sealed JSON: the calls found, with what matched.
      hits_codec text, hits_key_id text, hits_data bytea,
      created_at timestamptz(3) not null,
      finished_at timestamptz(3)
    );
    create index scorer_previews_recent on scorer_previews (project_id, created_at desc, id desc);
    create index scorer_previews_open on scorer_previews (created_at) where status in ('queued', 'running');
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table scorer_previews')
}

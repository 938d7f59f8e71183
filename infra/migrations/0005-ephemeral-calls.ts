import type { Knex } from 'knex'

/** What the sink remembers of ephemeral calls; and the index by which it deletes outbox rows long published. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A zero-retention call comes twice: without bodies to the topic that is kept, whole to the ephemeral one. Either stores the
    -- row, so the row does not tell whether the ephemeral record came before; this does.
    create table ephemeral_calls (
      project_id uuid not null,
      id uuid not null,
      noted_at timestamptz not null default now(),
      primary key (project_id, id)
    );
    create index ephemeral_calls_noted on ephemeral_calls (noted_at);
    create index event_outbox_published on event_outbox (published_at) where published_at is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index event_outbox_published; drop table ephemeral_calls;')
}

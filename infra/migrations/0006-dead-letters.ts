import type { Knex } from 'knex'

/** The index of dead letters: where each stands and what became of it, never what it holds. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table dead_letters (
      id uuid primary key,
      -- Where its record stands: in the dead-letter topic of \`topic\`.
      cluster text not null,
      topic text not null,
      partition integer not null,
      "offset" bigint not null,
      -- Where the record stood that could not be handled, and who gave it up.
      source_partition integer,
      source_offset bigint,
      group_id text,
      code text not null,
      message text not null,
      record_key text,
      project_id uuid,
      request_id uuid,
      -- Null: it has no value, so there is nothing to send again.
      value_bytes integer,
      dead_at timestamptz(3) not null,
      -- lost: Kafka kept it no longer when it was to be sent again.
      status text not null default 'open' check (status in ('open', 'redriven', 'dropped', 'lost')),
      decided_at timestamptz(3),
      reason text
    );
    create index dead_letters_recent on dead_letters (dead_at desc, id desc);
    create index dead_letters_open on dead_letters (topic, dead_at, id) where status = 'open';
    create index dead_letters_project on dead_letters (project_id, dead_at desc, id desc);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table dead_letters;')
}

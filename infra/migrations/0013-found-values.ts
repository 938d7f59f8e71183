import type { Knex } from 'knex'

/** What unsafe scores found, as keyed hashes beside their details, and each project's key of them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Sealed like bodies. Made once, when the first value of a project is hashed.
    create table value_hash_keys (
      project_id uuid primary key references projects (id) on delete cascade,
      codec text not null, key_id text, data bytea not null,
      created_at timestamptz(3) not null
    );
    -- [{ kind, tool, hash }], at most ten; erased with the details. found_more: others were or may have been
    -- found.
    alter table safety_score_details add column found_values jsonb, add column found_more boolean;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table safety_score_details drop column found_more, drop column found_values;
    drop table value_hash_keys;
  `)
}

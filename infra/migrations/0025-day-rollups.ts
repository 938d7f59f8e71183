import type { Knex } from 'knex'

const tables = ['call_rollups', 'score_rollups', 'tool_rollups']

/** The roll-ups by the day, made of those by the hour once a day is over: docs/decisions/0006. */
export async function up(knex: Knex): Promise<void> {
  for (const table of tables) {
    await knex.raw(`
      create table ${table}_by_day (like ${table} including defaults including constraints);
      alter table ${table}_by_day add primary key (project_id, hour, series);
    `)
  }
  await knex.raw(`
    -- Days before this one are counted by the day. Null: none yet.
    create table rollup_days (name text primary key, counted_until timestamptz);
    insert into rollup_days (name) select unnest(array['${tables.join("', '")}']);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table rollup_days, ${tables.map((table) => `${table}_by_day`).join(', ')};`)
}

import type { Knex } from 'knex'

/** Which project is meant by a name of SLUICE_INIT_FILE. It stays when the project is renamed. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table declared_projects (
      ref text primary key,
      project_id uuid not null unique references projects (id) on delete cascade
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table declared_projects')
}

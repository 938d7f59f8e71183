import type { Knex } from 'knex'

/** What MCP servers said last of each tool (docs/decisions/0122). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table tool_definitions (
      project_id uuid not null references projects (id),
      -- Name of the gateway's upstream.
      server text not null,
      tool_name text not null,
      -- SHA-256 in hexadecimal.
      hash text not null,
      -- Time of the call that showed it.
      seen_at timestamptz(3) not null,
      primary key (project_id, server, tool_name)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table tool_definitions')
}

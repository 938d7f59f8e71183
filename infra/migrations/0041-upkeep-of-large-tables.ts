import type { Knex } from 'knex'

const largeTables = [
  ...['event_outbox', 'ephemeral_calls', 'webhook_deliveries', 'webhook_attempts'],
  ...['call_rollups', 'score_rollups', 'tool_rollups'],
]

/**
 * What keeps tables of hundreds of millions of rows in order. Autovacuum comes at a hundredth of dead rows instead of a fifth: a fifth of 90 days of
 * deliveries is 18 days of them, through which whoever looks for the oldest walks. A run's scores are counted by an index, where every project
 * was asked for. Scores wait while it is built. `webhook_deliveries_age` stays for the version before, should it be needed again: nothing of
 * this version asks it.
 */
export async function up(knex: Knex): Promise<void> {
  for (const table of largeTables) {
    await knex.raw(
      `alter table ${table} set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000)`,
    )
  }
  await knex.raw('create index score_rollups_run on score_rollups (run_id, hour)')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index score_rollups_run')
  for (const table of largeTables) {
    await knex.raw(`alter table ${table} reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)`)
  }
}

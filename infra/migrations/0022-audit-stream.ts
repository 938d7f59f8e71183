import type { Knex } from 'knex'

/** Which entries of the audit log the operator's SIEM has (services/notifier/audit). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table audit_log add column streamed_at timestamptz(3);
    create index audit_log_unstreamed on audit_log (at, id) where streamed_at is null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index audit_log_unstreamed; alter table audit_log drop column streamed_at;')
}

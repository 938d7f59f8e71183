import type { Knex } from 'knex'

/**
 * A webhook goes without its deliveries, which the sink deletes by and by: with all of them in one statement a log of some 600,000 took longer
 * than a statement of the API may, so that its webhook could never be deleted (docs/decisions/0071).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger webhook_deliveries_go_with_webhook on webhooks;
    drop function delete_webhook_deliveries();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(cascade)
}

// As 0032 made it, and what has no webhook any more goes now.
const cascade = `
  delete from webhook_deliveries d where not exists (select from webhooks w where w.id = d.webhook_id);
  do $do$ begin
    execute format($function$
      create function delete_webhook_deliveries() returns trigger
        language plpgsql security definer set search_path = %1$I, pg_temp as $$
        begin
          delete from webhook_deliveries where webhook_id = old.id;
          return null;
        end $$;
    $function$, current_schema());
    revoke all on function delete_webhook_deliveries() from public;
  end $do$;
  create trigger webhook_deliveries_go_with_webhook after delete on webhooks
    for each row execute function delete_webhook_deliveries();
`

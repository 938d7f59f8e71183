import type { Knex } from 'knex'

/**
 * Deliveries and their attempts go with what they are of by triggers instead of foreign keys, which look each row's parent up one by
 * one when it is inserted. The notifier locks parents itself, all of a statement at once: docs/decisions/0071.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table webhook_attempts drop constraint webhook_attempts_delivery_id_fkey;
    alter table webhook_deliveries drop constraint webhook_deliveries_webhook_id_fkey;
  `)
  await knex.raw(cascades)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger webhook_deliveries_go_with_webhook on webhooks;
    drop trigger webhook_attempts_go_with_delivery on webhook_deliveries;
    drop function delete_webhook_deliveries();
    drop function delete_webhook_attempts();
    alter table webhook_deliveries add constraint webhook_deliveries_webhook_id_fkey
      foreign key (webhook_id) references webhooks (id) on delete cascade;
    alter table webhook_attempts add constraint webhook_attempts_delivery_id_fkey
      foreign key (delivery_id) references webhook_deliveries (id) on delete cascade;
  `)
}

// With their owner's rights, as a foreign key's own cascade has them: what row-level security hides from a caller goes too.
const cascades = `
  do $do$ begin
    execute format($function$
      create function delete_webhook_deliveries() returns trigger
        language plpgsql security definer set search_path = %1$I, pg_temp as $$
        begin
          delete from webhook_deliveries where webhook_id = old.id;
          return null;
        end $$;
      create function delete_webhook_attempts() returns trigger
        language plpgsql security definer set search_path = %1$I, pg_temp as $$
        begin
          delete from webhook_attempts where delivery_id = old.id;
          return null;
        end $$;
    $function$, current_schema());
    revoke all on function delete_webhook_deliveries(), delete_webhook_attempts() from public;
  end $do$;
  create trigger webhook_deliveries_go_with_webhook after delete on webhooks
    for each row execute function delete_webhook_deliveries();
  create trigger webhook_attempts_go_with_delivery after delete on webhook_deliveries
    for each row execute function delete_webhook_attempts();
`

import type { Knex } from 'knex'

/** Writes down when keys of any project were last used; never back, because processes write at their own times. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    do $do$ begin
      execute format($function$
        create function note_key_uses(p_keys uuid[], p_times timestamptz[]) returns void
          language sql security definer set search_path = %1$I, pg_temp as $$
            update api_keys k set last_used_at = used.at
            from (select * from unnest(p_keys, p_times) as given (id, at) order by id) used
            where k.id = used.id and (k.last_used_at is null or k.last_used_at < used.at)
          $$
      $function$, current_schema());
      revoke all on function note_key_uses(uuid[], timestamptz[]) from public;
    end $do$;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop function note_key_uses(uuid[], timestamptz[]);')
}

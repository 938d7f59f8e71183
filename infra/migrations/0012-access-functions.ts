import type { Knex } from 'knex'

/** What the API may do across projects without being the operator: find the project of a key. */
export async function up(knex: Knex): Promise<void> {
  // Their owner's rights and a fixed path: a caller could otherwise put tables of its own in front of ours.
  await knex.raw(`
    do $do$ begin
      execute format($function$
        create function find_api_key(p_sha256 bytea)
          returns table (id uuid, scope text, expires_at timestamptz, project_id uuid, tier text, zero_content_retention boolean)
          language sql stable security definer set search_path = %1$I, pg_temp as $$
            select k.id, k.scope, k.expires_at, p.id, s.tier, p.zero_content_retention
            from api_keys k join projects p on p.id = k.project_id join subscriptions s on s.project_id = p.id
            where k.secret_sha256 = p_sha256 and k.revoked_at is null
          $$
      $function$, current_schema());
      revoke all on function find_api_key(bytea) from public;
    end $do$;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop function find_api_key(bytea);')
}

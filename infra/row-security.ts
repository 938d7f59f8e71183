import { Client, DatabaseError } from 'pg'
import { databaseRoles, type DatabaseRoles } from '#runtime/database-roles.ts'
import { connectionOf, type PostgresAddress } from '#runtime/postgres-address.ts'
import { CannotStart } from './embedded/embedded-part.ts'

/** Tables that the API reads but only consumers write. */
const readOnly = [
  'llm_requests',
  'llm_request_bodies',
  'request_previews',
  'search_signatures',
  'safety_scores',
  'safety_score_details',
  'request_verdicts',
  'call_rollups',
  'score_rollups',
  'tool_rollups',
  'verdict_rollups',
  'label_rollups',
  'call_rollups_by_day',
  'score_rollups_by_day',
  'tool_rollups_by_day',
  'verdict_rollups_by_day',
  'label_rollups_by_day',
  'call_minutes',
  'score_minutes',
  'review_counts',
  'seen_tools',
  'tool_definitions',
  'judge_spend_by_scorer',
  'webhook_waiting',
  'suppression_counts',
  'finding_counters',
  'finding_values',
  'scorer_catalogue',
]

/** Tables with a project that no project's request needs: find_key finds keys. */
const withheld = [
  'api_keys',
  'key_months',
  'key_leases',
  'dead_letters',
  'ephemeral_calls',
  'erased_requests',
  'swept_calls',
  'people_projects',
  'declared_projects',
]

/** Tables that the API only appends to; only the operator may read them. */
const appendOnly = ['audit_log']

/** Readable tables that belong to no project. */
const open = ['tiers', 'rollup_days']

/**
 * Gives every table its row-level security and grants, so a new table needs only a `project_id`. Runs after
 * every migration; changes nothing if all is in place. Throws CannotStart with the statements to run if the
 * login may not create the roles. A table without `project_id` is the operator's alone. Partitions get no
 * grants: only their parents have policies.
 */
export async function secureRows(address: PostgresAddress, rolePrefix = ''): Promise<void> {
  const roles = databaseRoles(rolePrefix)
  const client = new Client(connectionOf(address))
  await client.connect()
  try {
    // Separate statement: the second may need rights that are granted to existing roles.
    await client.query(makeRoles(roles))
    await client.query(secureTables(roles))
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== insufficientPrivilege) throw error
    throw new CannotStart(`Postgres: ${error.message}`)
  } finally {
    await client.end()
  }
}

const insufficientPrivilege = '42501'

/**
 * Roles belong to the whole cluster, so another database's migration may create them at the same time. They
 * cannot log in: the API's login assumes them (docs/decisions/0008-row-level-security.md).
 */
const makeRoles = ({ api, operator }: DatabaseRoles) => `
  do $$
  declare
    v_role text;
  begin
    foreach v_role in array array['${api}', '${operator}'] loop
      begin
        if not exists (select from pg_roles where rolname = v_role) then
          execute format('create role %I nologin', v_role);
        end if;
        if not pg_has_role(current_user, v_role, 'SET') then
          execute format('grant %I to current_user with set true, inherit false', v_role);
        end if;
      exception
        when duplicate_object or unique_violation then null;
        when insufficient_privilege then raise exception using
          errcode = 'insufficient_privilege',
          message = format('the login %1$I may not make or take the role %2$I; as an administrator, if there is no such role: create role %2$I; and then: grant %2$I to %1$I with set true, inherit false;', current_user, v_role);
      end;
    end loop;
  end $$;
`

const ownProject = `nullif(current_setting('sluice.project', true), '')::uuid`

/** The condition for a project's own rows; null: the table belongs to no project. */
const ruleOf = `case
  when v_table.relname = 'projects' then $rule$id = ${ownProject}$rule$
  when v_table.relname in ('webhook_attempts', 'webhook_waiting') then 'exists (select from webhook_deliveries d where d.id = delivery_id)'
  -- A scorer of the file may be for some projects only.
  when v_table.relname = 'scorer_catalogue' then $rule$projects is null or ${ownProject} = any (projects)$rule$
  when exists (select from pg_attribute a where a.attrelid = v_table.oid and a.attname = 'project_id' and not a.attisdropped)
    then $rule$project_id = ${ownProject}$rule$
end`

const secureTables = ({ api, operator }: DatabaseRoles) => `
  do $$
  declare
    v_role text;
    v_table record;
    v_rule text;
  begin
    -- Roles of a previous DATABASE_ROLE_PREFIX lose their rights.
    for v_role in
      select distinct r.rolname from pg_policy p join pg_roles r on r.oid = any (p.polroles)
      where p.polrelid = 'projects'::regclass and p.polname in ('own_project', 'every_project') and r.rolname not in ('${api}', '${operator}')
    loop
      execute format('revoke all on all tables in schema %I from %I', current_schema(), v_role);
      execute format('revoke all on all functions in schema %I from %I', current_schema(), v_role);
      execute format('revoke all on schema %I from %I', current_schema(), v_role);
    end loop;
    execute format('grant usage on schema %I to ${api}, ${operator}', current_schema());
    if not has_schema_privilege('${api}', current_schema(), 'usage') or not has_schema_privilege('${operator}', current_schema(), 'usage') then
      raise exception using errcode = 'insufficient_privilege',
        message = format('the roles of the API may not use the schema %1$I; as its owner: grant usage on schema %1$I to ${api}, ${operator};', current_schema());
    end if;
    -- Otherwise every login could call it for any project: setting \`sluice.project\` takes no right.
    revoke execute on function calls_with_metadata(jsonb[], jsonb[], timestamptz, timestamptz, integer) from public;
    grant execute on function find_api_key(bytea), find_key(bytea), note_key_uses(uuid[], timestamptz[]), find_login(bytea, timestamptz, interval),
      projects_with_due_calls(timestamptz), count_waiting_calls(), calls_with_metadata(jsonb[], jsonb[], timestamptz, timestamptz, integer) to ${api}, ${operator};
    for v_table in
      select c.oid, c.relname, c.relrowsecurity from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname not like 'schema\\_migrations%'
    loop
      v_rule := ${ruleOf};
      execute format('revoke all on %I from ${api}, ${operator}', v_table.relname);
      execute format('grant select, insert, update, delete on %I to ${operator}', v_table.relname);
      if v_table.relname = any (array['${appendOnly.join("', '")}']) then
        execute format('revoke update on %I from ${operator}', v_table.relname);
        execute format('grant insert on %I to ${api}', v_table.relname);
      elsif v_table.relname = any (array['${[...readOnly, ...open].join("', '")}']) then
        execute format('grant select on %I to ${api}', v_table.relname);
      elsif v_rule is not null and v_table.relname <> all (array['${withheld.join("', '")}']) then
        execute format('grant select, insert, update, delete on %I to ${api}', v_table.relname);
      end if;
      continue when v_rule is null;
      if not v_table.relrowsecurity then
        execute format('alter table %I enable row level security', v_table.relname);
      end if;
      if not exists (select from pg_policy p where p.polrelid = v_table.oid and p.polname = 'own_project') then
        execute format('create policy own_project on %I to ${api} using (%s)', v_table.relname, v_rule);
        execute format('create policy every_project on %I to ${operator} using (true)', v_table.relname);
      elsif not exists (select from pg_policy p where p.polrelid = v_table.oid and p.polroles = array['${api}'::regrole::oid]) then
        execute format('alter policy own_project on %I to ${api}', v_table.relname);
        execute format('alter policy every_project on %I to ${operator}', v_table.relname);
      end if;
    end loop;
  end $$;
`

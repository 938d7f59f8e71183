import type { Knex } from 'knex'
import { ensureDayPartitions } from './0002-requests.ts'

/**
 * A day that lacks one of its tables, because somebody dropped or detached that one alone, gets it back with its foreign keys; what the others
 * hold stays. Calls of such a day were refused by Postgres, again and again. Keys that were dropped with it are not held against the rows that lost their peers.
 */
export const mendDayPartitions = `
  create or replace function ensure_day_partitions(p_day date) returns boolean language plpgsql as $$
  declare
    v_suffix text := to_char(p_day, '"_"YYYYMMDD');
    v_from timestamptz := p_day::timestamp at time zone 'UTC';
    v_to timestamptz := (p_day + 1)::timestamp at time zone 'UTC';
    v_parents text[] := array['llm_requests', 'llm_request_bodies', 'safety_scores', 'safety_score_details', 'request_verdicts'];
    v_missing text[];
    v_parent text;
    v_peer text;
    v_columns text;
    v_keys text;
  begin
    -- By queries: to_regclass would answer from a cache that waiting for an advisory lock does not refresh.
    for v_try in 1..2 loop
      v_missing := array(select parent from unnest(v_parents) parent where not exists (
        select from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = parent::regclass and c.relname = parent || v_suffix));
      if v_missing = '{}' then return false; end if;
      if v_try = 1 then perform pg_advisory_xact_lock(hashtext('sluice.day_partitions')); end if;
    end loop;
    foreach v_parent in array v_missing loop
      execute format('create table if not exists %I (like %I including defaults including constraints including indexes)', v_parent || v_suffix, v_parent);
    end loop;
    for v_parent, v_peer, v_columns, v_keys in values
      ('llm_request_bodies', 'llm_requests', 'project_id, request_id, created_at', 'project_id, id, created_at'),
      ('safety_scores', 'llm_requests', 'project_id, request_id, request_created_at', 'project_id, id, created_at'),
      ('request_verdicts', 'llm_requests', 'project_id, request_id, request_created_at', 'project_id, id, created_at'),
      ('safety_score_details', 'safety_scores', 'project_id, score_id, request_created_at', 'project_id, id, request_created_at')
    loop
      continue when exists (select from pg_constraint where contype = 'f' and conrelid = (v_parent || v_suffix)::regclass);
      execute format('alter table %I add foreign key (%s) references %I (%s) on delete cascade %s', v_parent || v_suffix, v_columns, v_peer || v_suffix, v_keys,
        case when v_parent = any (v_missing) then '' else 'not valid' end);
    end loop;
    foreach v_parent in array v_missing loop
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', v_parent, v_parent || v_suffix, v_from, v_to);
    end loop;
    return true;
  end $$;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(mendDayPartitions)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(ensureDayPartitions.replace('create function', 'create or replace function'))
}

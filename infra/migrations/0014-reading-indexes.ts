import type { Knex } from 'knex'

/** What the lists filter by, so that a narrow filter reads what it shows and not the table; and the order in which scores became visible. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(requestIndexes)
  await knex.raw(scoreIndexes)
  await knex.raw(callsWithMetadata)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function calls_with_metadata(jsonb[], jsonb[], timestamptz, timestamptz, integer);
    drop index safety_scores_stored, safety_scores_raised, safety_scores_unsafe, safety_scores_run;
    create index safety_scores_recent on safety_scores (project_id, request_created_at desc, id desc);
    alter table safety_scores drop column stored_xid;
    drop index request_verdicts_notable, llm_requests_metadata, llm_requests_in_session, llm_requests_user, llm_requests_type,
      llm_requests_tool, llm_requests_agent, llm_requests_provider, llm_requests_model;
  `)
}

// Without the id behind the time: rows of one millisecond are sorted when read, and an entry is a quarter smaller.
const requestIndexes = `
  create index llm_requests_model on llm_requests (project_id, model, created_at desc);
  create index llm_requests_provider on llm_requests (project_id, provider, created_at desc) where provider is not null;
  create index llm_requests_agent on llm_requests (project_id, agent_name, created_at desc) where agent_name is not null;
  create index llm_requests_tool on llm_requests (project_id, tool_name, created_at desc) where tool_name is not null;
  create index llm_requests_type on llm_requests (project_id, type, created_at desc) where type is not null;
  create index llm_requests_user on llm_requests (project_id, user_id, created_at desc) where user_id is not null;
  -- The calls that belong to a session in their order: /api/sessions reads nothing else.
  create index llm_requests_in_session on llm_requests (project_id, created_at desc, id desc) include (session_id) where session_id is not null;
  create index llm_requests_metadata on llm_requests using gin (metadata jsonb_path_ops) where metadata is not null;
  create index request_verdicts_notable on request_verdicts (project_id, worst_label, request_created_at desc, request_id desc)
    include (worst_severity) where worst_label <> 'safe';
`

const scoreIndexes = `
  -- Every list is of one run.
  drop index safety_scores_recent;
  create index safety_scores_run on safety_scores (project_id, run_id, request_created_at desc, id desc);
  create index safety_scores_unsafe on safety_scores (project_id, run_id, scorer_name, request_created_at desc, id desc)
    where score_label = 'unsafe';
  create index safety_scores_raised on safety_scores (project_id, run_id, request_created_at desc, id desc)
    include (severity, score_label, score_value) where score_label = 'unsafe' or score_value >= 2;
  -- The transaction that stored it. Times do not order what readers see: a transaction that began earlier may end later. Null: stored before this column.
  alter table safety_scores add column stored_xid xid8;
  alter table safety_scores alter column stored_xid set default pg_current_xact_id();
  -- A batch of the sink has one value, so that most entries share their key.
  create index safety_scores_stored on safety_scores (project_id, stored_xid) where stored_xid is not null;
`

/**
 * The newest calls of the transaction's project whose metadata holds, of each pair, the one or the other. With its owner's rights, because row-level
 * security lets no index of jsonb be used: its operators are not leakproof. It sees the project that the transaction names and no other.
 */
const callsWithMetadata = `
  do $do$ begin
    execute format($function$
      create function calls_with_metadata(p_one jsonb[], p_other jsonb[], p_start timestamptz, p_end timestamptz, p_limit integer)
        returns table (project_id uuid, id uuid, created_at timestamptz)
        language plpgsql stable security definer set search_path = %1$I, pg_temp as $$
        declare
          v_pairs text;
        begin
          select string_agg(format('(r.metadata @> $2[%%1$s] or r.metadata @> $3[%%1$s])', place), ' and ') into v_pairs
            from generate_subscripts(p_one, 1) place;
          -- Planned for these values: what one filter meets in every second call another meets once.
          return query execute 'select r.project_id, r.id, r.created_at::timestamptz from llm_requests r where r.project_id = $1 and ' || v_pairs ||
            ' and ($4 is null or r.created_at >= $4) and ($5 is null or r.created_at < $5) order by r.created_at desc, r.id desc limit $6'
            using nullif(current_setting('sluice.project', true), '')::uuid, p_one, p_other, p_start, p_end, p_limit;
        end $$
    $function$, current_schema());
  end $do$;
`

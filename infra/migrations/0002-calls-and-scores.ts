import type { Knex } from 'knex'

/** Calls, their bodies and scores, all partitioned by the call's day; and how far the sinks have read. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(callTables)
  await knex.raw(scoreTables)
  await knex.raw(sinkTables)
  await knex.raw(ensureDayPartitions)
  await knex.raw(callsWithMetadata)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function calls_with_metadata(jsonb[], jsonb[], timestamptz, timestamptz, integer);
    drop function ensure_day_partitions(date);
    drop table upkeep_rounds, swept_calls, ephemeral_calls, seen_tools, sink_positions;
    drop table request_verdicts, safety_score_details, safety_scores, llm_request_bodies, llm_requests;
  `)
}

// Filters' indexes leave the id out: rows of one millisecond are sorted when read, and an entry is a quarter
// smaller.
const callTables = `
  create table llm_requests (
    project_id uuid not null,
    id uuid not null,
    created_at timestamptz(3) not null,
    source text not null,
    model text not null,
    provider text,
    agent_name text,
    agent_tag text,
    session_id text,
    user_id text,
    type text,
    tool_name text,
    prompt_tokens bigint,
    completion_tokens bigint,
    cached_tokens bigint,
    reasoning_tokens bigint,
    cost_usd double precision,
    latency_ms double precision,
    time_to_first_token_ms double precision,
    status_code integer,
    error text,
    aborted_by text,
    metadata jsonb,
    zero_content_retention boolean not null,
    received_at timestamptz(3) not null,
    stored_at timestamptz(3) not null default now(),
    primary key (project_id, id, created_at)
  ) partition by range (created_at);
  create index llm_requests_recent on llm_requests (project_id, created_at desc, id desc);
  create index llm_requests_session on llm_requests (project_id, session_id, created_at desc) where session_id is not null;
  create index llm_requests_model on llm_requests (project_id, model, created_at desc);
  create index llm_requests_provider on llm_requests (project_id, provider, created_at desc) where provider is not null;
  create index llm_requests_agent on llm_requests (project_id, agent_name, created_at desc) where agent_name is not null;
  create index llm_requests_tag on llm_requests (project_id, agent_tag, created_at desc) where agent_tag is not null;
  create index llm_requests_tool on llm_requests (project_id, tool_name, created_at desc) where tool_name is not null;
  create index llm_requests_type on llm_requests (project_id, type, created_at desc) where type is not null;
  create index llm_requests_user on llm_requests (project_id, user_id, created_at desc) where user_id is not null;
  -- All that /api/sessions reads.
  create index llm_requests_in_session on llm_requests (project_id, created_at desc, id desc) include (session_id) where session_id is not null;
  create index llm_requests_metadata on llm_requests using gin (metadata jsonb_path_ops) where metadata is not null;
  -- About one call in a hundred, so that storing calls hardly slows. 0.4 ms for a page of 100,000 calls.
  create index llm_requests_failed on llm_requests (project_id, created_at desc, id desc) where status_code >= 400 or error is not null;
  create index llm_requests_aborted on llm_requests (project_id, created_at desc, id desc) where aborted_by is not null;

  -- Bodies stand apart: no list reads them, and erasing them is dropping a table.
  create table llm_request_bodies (
    project_id uuid not null,
    request_id uuid not null,
    created_at timestamptz(3) not null,
    request_codec text, request_key_id text, request_data bytea,
    response_codec text, response_key_id text, response_data bytea,
    primary key (project_id, request_id, created_at)
  ) partition by range (created_at);
`

const scoreTables = `
  create table safety_scores (
    project_id uuid not null,
    request_id uuid not null,
    request_created_at timestamptz(3) not null,
    id uuid not null,
    run_id uuid not null,
    scorer_name text not null,
    score_value double precision check (score_value between 1 and 5),
    score_label text not null check (score_label in ('safe', 'unsafe', 'unscored')),
    severity text check (severity in ('medium', 'high', 'critical')),
    method text not null,
    scorer_version text not null,
    owasp_category text,
    reason text,
    created_at timestamptz(3) not null,
    -- The transaction that stored it. Times do not order what readers see: an earlier transaction may end
    -- later.
    stored_xid xid8 default pg_current_xact_id(),
    primary key (project_id, id, request_created_at)
  ) partition by range (request_created_at);
  create index safety_scores_request on safety_scores (project_id, request_id);
  create index safety_scores_run on safety_scores (project_id, run_id, request_created_at desc, id desc);
  create index safety_scores_unsafe on safety_scores (project_id, run_id, scorer_name, request_created_at desc, id desc)
    where score_label = 'unsafe';
  create index safety_scores_raised on safety_scores (project_id, run_id, request_created_at desc, id desc)
    include (severity, score_label, score_value) where score_label = 'unsafe' or score_value >= 2;
  -- A batch of the sink has one value, so most entries share their key.
  create index safety_scores_stored on safety_scores (project_id, stored_xid) where stored_xid is not null;

  -- Sealed JSON { rationale, evidence, judge? } of a score. Erased with the bodies; the score stays.
  create table safety_score_details (
    project_id uuid not null,
    score_id uuid not null,
    request_created_at timestamptz(3) not null,
    codec text not null, key_id text, data bytea not null,
    primary key (project_id, score_id, request_created_at)
  ) partition by range (request_created_at);

  -- What lists filter by, apart from llm_requests, which stays append-only. Of the live run.
  create table request_verdicts (
    project_id uuid not null,
    request_id uuid not null,
    request_created_at timestamptz(3) not null,
    worst_label text not null,
    worst_severity text,
    score_count integer not null,
    primary key (project_id, request_id, request_created_at)
  ) partition by range (request_created_at);
  create index request_verdicts_notable on request_verdicts (project_id, worst_label, request_created_at desc, request_id desc)
    include (worst_severity) where worst_label <> 'safe';
`

const sinkTables = `
  -- The offset behind the last record stored from a partition; advanced in the transaction that stores it.
  create table sink_positions (
    cluster text not null,
    topic text not null,
    partition integer not null,
    next_offset bigint not null,
    primary key (cluster, topic, partition)
  );

  create table seen_tools (
    project_id uuid not null references projects (id),
    tool_name text not null,
    first_seen_at timestamptz not null,
    primary key (project_id, tool_name)
  );

  -- A zero-retention call comes twice: without bodies to the topic that is kept, whole to the ephemeral one.
  -- Either stores the row, so the row does not tell whether the ephemeral record came before; this does.
  create table ephemeral_calls (
    project_id uuid not null,
    id uuid not null,
    noted_at timestamptz not null default now(),
    primary key (project_id, id)
  ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
  create index ephemeral_calls_noted on ephemeral_calls (noted_at);

  -- Calls that the sweep queued again for scoring: neither too often nor for ever.
  create table swept_calls (
    project_id uuid not null,
    request_id uuid not null,
    tries integer not null,
    swept_at timestamptz not null,
    primary key (project_id, request_id)
  );
  create index swept_calls_age on swept_calls (swept_at);

  -- When any sink began and ended each upkeep task, and when it is due: ten sinks do one round, not ten.
  create table upkeep_rounds (
    name text primary key,
    rounds bigint not null,
    began_at timestamptz not null,
    ended_at timestamptz,
    due_at timestamptz not null
  );
`

/**
 * The partitions of one UTC day, with the foreign keys between them: declared on the parents, these would
 * keep a day of requests from being dropped. Returns whether it made any. Made apart and attached, so that
 * readers and writers go on. A missing table comes back with its keys; rows that lost their peers are not
 * held to them.
 */
const ensureDayPartitions = `
  create function ensure_day_partitions(p_day date) returns boolean language plpgsql as $$
  declare
    v_suffix text := to_char(p_day, '"_"YYYYMMDD');
    v_from timestamptz := p_day::timestamp at time zone 'UTC';
    v_to timestamptz := (p_day + 1)::timestamp at time zone 'UTC';
    v_parents text[] := array['llm_requests', 'llm_request_bodies', 'safety_scores', 'safety_score_details', 'request_verdicts'];
    v_missing text[];
    v_made text[];
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
    v_made := array(select parent from unnest(v_missing) parent where not exists (
      select from pg_class where relname = parent || v_suffix and pg_table_is_visible(oid)));
    foreach v_parent in array v_made loop
      execute format('create table %I (like %I including defaults including constraints including indexes)', v_parent || v_suffix, v_parent);
    end loop;
    for v_parent, v_peer, v_columns, v_keys in values
      ('llm_request_bodies', 'llm_requests', 'project_id, request_id, created_at', 'project_id, id, created_at'),
      ('safety_scores', 'llm_requests', 'project_id, request_id, request_created_at', 'project_id, id, created_at'),
      ('request_verdicts', 'llm_requests', 'project_id, request_id, request_created_at', 'project_id, id, created_at'),
      ('safety_score_details', 'safety_scores', 'project_id, score_id, request_created_at', 'project_id, id, request_created_at')
    loop
      continue when exists (select from pg_constraint where contype = 'f' and conrelid = (v_parent || v_suffix)::regclass);
      execute format('alter table %I add foreign key (%s) references %I (%s) on delete cascade %s', v_parent || v_suffix, v_columns, v_peer || v_suffix, v_keys,
        case when v_parent = any (v_made) then '' else 'not valid' end);
    end loop;
    foreach v_parent in array v_missing loop
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', v_parent, v_parent || v_suffix, v_from, v_to);
    end loop;
    return true;
  end $$;
`

/**
 * The newest calls of the transaction's project whose metadata holds, of each pair, the one or the other.
 * With its owner's rights: under row-level security no index of jsonb is used, because its operators are not
 * leakproof. It sees the project that the transaction names and no other.
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

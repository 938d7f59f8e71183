import type { Knex } from 'knex'

/** Calls, their bodies, the scores of each, all partitioned by the day of the call; and how far the sinks are. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(requestTables)
  await knex.raw(scoreTables)
  await knex.raw(ensureDayPartitions)
  await knex.raw(`
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
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table seen_tools, sink_positions;
    drop function ensure_day_partitions(date);
    drop table request_verdicts, safety_score_details, safety_scores, llm_request_bodies, llm_requests;
  `)
}

const requestTables = `
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

  -- Bodies stand apart, so that no list reads them and erasing them is dropping a table.
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
    primary key (project_id, id, request_created_at)
  ) partition by range (request_created_at);
  create index safety_scores_request on safety_scores (project_id, request_id);
  create index safety_scores_recent on safety_scores (project_id, request_created_at desc, id desc);

  -- Sealed JSON { rationale, evidence, judge? } of a score; erased with the bodies, while the score stays.
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
`

/**
 * The partitions of one UTC day, with the foreign keys between them: declared on the parents, they would keep a day of
 * requests from ever being dropped. Returns whether it made them. Made apart and attached, because that lets readers and writers go on.
 */
export const ensureDayPartitions = `
  create function ensure_day_partitions(p_day date) returns boolean language plpgsql as $$
  declare
    v_suffix text := to_char(p_day, '"_"YYYYMMDD');
    v_from timestamptz := p_day::timestamp at time zone 'UTC';
    v_to timestamptz := (p_day + 1)::timestamp at time zone 'UTC';
    v_parent text;
  begin
    if to_regclass('llm_requests' || v_suffix) is not null then return false; end if;
    perform pg_advisory_xact_lock(hashtext('sluice.day_partitions'));
    -- By a query: to_regclass would answer from a cache that waiting for an advisory lock does not refresh.
    if exists (select from pg_class where relname = 'llm_requests' || v_suffix and relnamespace = (select relnamespace from pg_class where oid = 'llm_requests'::regclass)) then return false; end if;
    foreach v_parent in array array['llm_requests', 'llm_request_bodies', 'safety_scores', 'safety_score_details', 'request_verdicts'] loop
      execute format('create table %I (like %I including defaults including constraints including indexes)', v_parent || v_suffix, v_parent);
    end loop;
    execute format('alter table %I add foreign key (project_id, request_id, created_at) references %I (project_id, id, created_at) on delete cascade',
      'llm_request_bodies' || v_suffix, 'llm_requests' || v_suffix);
    foreach v_parent in array array['safety_scores', 'request_verdicts'] loop
      execute format('alter table %I add foreign key (project_id, request_id, request_created_at) references %I (project_id, id, created_at) on delete cascade',
        v_parent || v_suffix, 'llm_requests' || v_suffix);
    end loop;
    execute format('alter table %I add foreign key (project_id, score_id, request_created_at) references %I (project_id, id, request_created_at) on delete cascade',
      'safety_score_details' || v_suffix, 'safety_scores' || v_suffix);
    foreach v_parent in array array['llm_requests', 'llm_request_bodies', 'safety_scores', 'safety_score_details', 'request_verdicts'] loop
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', v_parent, v_parent || v_suffix, v_from, v_to);
    end loop;
    return true;
  end $$;
`

import type { Knex } from 'knex'

/**
 * Runs that score history again, and runs of attacks against an organisation's own agents with each attempt.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(scoreRuns + redteamRuns + redteamAttempts)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table redteam_attempts, redteam_runs, score_runs')
}

// The sinks carry these out; the holder of a row's lock works on it.
const scoreRuns = `
  create table score_runs (
    id uuid primary key,
    -- Null: of all projects.
    project_id uuid,
    start_at timestamptz(3) not null,
    end_at timestamptz(3) not null check (end_at > start_at),
    -- Null: those of each call's tier and the custom ones.
    scorers text[],
    source text not null check (source in ('postgres', 'kafka')),
    alert boolean not null,
    status text not null check (status in ('queued', 'feeding', 'scoring', 'done', 'cancelled', 'failed', 'promoting', 'promoted')),
    calls_total bigint not null,
    calls_fed bigint not null default 0,
    calls_scored bigint not null default 0,
    -- Where the feeding, later the promotion goes on: behind this call of this project.
    cursor_project uuid,
    cursor_at timestamptz(3),
    cursor_id uuid,
    -- Of source kafka: the next and the last offset of each partition.
    offsets jsonb,
    problem text,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null default now(),
    finished_at timestamptz(3),
    -- How far the queues have to come until the run has all its scores: a topic, and where its partitions
    -- ended.
    awaited jsonb
  );
  create index score_runs_recent on score_runs (created_at desc, id desc);
  create index score_runs_open on score_runs (created_at) where status in ('queued', 'feeding', 'scoring', 'promoting');
`

const redteamRuns = `
  create table redteam_runs (
    id uuid primary key,
    project_id uuid not null references projects (id),
    agent_name text not null,
    -- Where to, without any credential.
    target jsonb not null,
    options jsonb not null,
    seed text not null,
    budget_usd double precision check (budget_usd > 0),
    -- worker: the stack's red-team service carries it out. cli: only the process that is given its id.
    runner text not null check (runner in ('worker', 'cli')),
    status text not null check (status in ('queued', 'running', 'scoring', 'done', 'cancelled', 'failed')),
    stopped_by text check (stopped_by in ('budget', 'no_price')),
    problem text,
    -- Of the probe files that it was planned from; null: not planned yet.
    probes_digest text,
    planned_count integer,
    -- Once it is over; before that they are counted from the attempts.
    total_probes integer, pass_count integer, fail_count integer, unscored_count integer, critical_count integer,
    cost_usd double precision,
    -- The process that carries it out, for as long as it renews its lease.
    holder uuid,
    lease_until timestamptz,
    created_at timestamptz(3) not null,
    started_at timestamptz(3),
    finished_at timestamptz(3)
  );
  create index redteam_runs_recent on redteam_runs (project_id, created_at desc, id desc);
  create index redteam_runs_open on redteam_runs (created_at) where status in ('queued', 'running', 'scoring');
`

// Prompts and answers are stored as calls are.
const redteamAttempts = `
  create table redteam_attempts (
    project_id uuid not null references projects (id),
    run_id uuid not null references redteam_runs (id) on delete cascade,
    -- Its place in the plan.
    number integer not null,
    -- Of the call that it is recorded as; fixed before the first try.
    request_id uuid not null,
    probe_id text not null,
    category text not null,
    scorer text not null,
    judged_by text[] not null,
    transformation text not null,
    repeat integer not null,
    -- sending: from before the first byte until the call is recorded. It is never sent again from there.
    state text not null default 'planned' check (state in ('planned', 'sending', 'recorded', 'judged', 'skipped')),
    verdict text check (verdict in ('pass', 'fail', 'unscored')),
    severity text,
    -- The scorers that found the answer unsafe.
    failed_by text[],
    -- Whether a scorer found the attack itself in what was sent.
    detected boolean,
    -- Why it is unscored.
    reason text,
    status_code integer,
    latency_ms double precision,
    cost_usd double precision,
    -- What a report of another tool says of it.
    origin jsonb,
    recorded_at timestamptz(3),
    judged_at timestamptz(3),
    -- As planned, at most, until the attempt is recorded. Their requests' ids follow from the attempt's.
    earlier_turns integer not null default 0,
    -- The request whose answer a failure was found in.
    found_in uuid,
    primary key (run_id, number)
  );
  create index redteam_attempts_open on redteam_attempts (run_id, state, number) where state in ('planned', 'sending', 'recorded');
`

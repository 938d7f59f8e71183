import type { Knex } from 'knex'

/** Runs of attacks against an organisation's own agents, and each attempt with what became of it. Prompts and answers are stored as calls are. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(runsTable + attemptsTable)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table redteam_attempts, redteam_runs')
}

const runsTable = `
  create table redteam_runs (
    id uuid primary key,
    project_id uuid not null references projects (id),
    agent_name text not null,
    -- Where to, without any credential.
    target jsonb not null,
    options jsonb not null,
    seed text not null,
    budget_usd double precision check (budget_usd > 0),
    -- worker: whoever serves the stack carries it out. cli: only the process that is told its id.
    runner text not null check (runner in ('worker', 'cli')),
    status text not null check (status in ('queued', 'running', 'scoring', 'done', 'cancelled', 'failed')),
    stopped_by text check (stopped_by in ('budget', 'no_price')),
    problem text,
    -- Of the files of probes that it was planned from; null: not planned yet.
    probes_digest text,
    planned_count integer,
    -- Once it is over; before that they are counted from the attempts.
    total_probes integer, pass_count integer, fail_count integer, unscored_count integer, critical_count integer,
    cost_usd double precision,
    -- Who carries it out, for as long as that is renewed.
    holder uuid,
    lease_until timestamptz,
    created_at timestamptz(3) not null,
    started_at timestamptz(3),
    finished_at timestamptz(3)
  );
  create index redteam_runs_recent on redteam_runs (project_id, created_at desc, id desc);
  create index redteam_runs_open on redteam_runs (created_at) where status in ('queued', 'running', 'scoring');
`

const attemptsTable = `
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
    primary key (run_id, number)
  );
  create index redteam_attempts_open on redteam_attempts (run_id, state, number) where state in ('planned', 'sending', 'recorded');
`

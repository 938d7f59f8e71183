import type { Knex } from 'knex'

/** Findings: failing live scores of one kind, with a state, an owner, comments and a history. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(counted)
  await knex.raw(byPeople)
  await knex.raw(`
    alter table safety_scores add column finding_id uuid;
    create index safety_scores_finding on safety_scores (project_id, finding_id, request_created_at desc, id desc)
      where finding_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table safety_scores drop column finding_id;
    drop table finding_changes, finding_comments, finding_values, finding_counters, findings;
  `)
}

const counted = `
  create table findings (
    project_id uuid not null references projects (id) on delete cascade,
    -- Derived from the project and the next four, where '' stands for none.
    id uuid not null,
    scorer_name text not null,
    evidence_kind text not null,
    agent_name text not null,
    tool_name text not null,
    owasp_category text,
    -- The worst of its scores.
    severity text not null check (severity in ('medium', 'high', 'critical')),
    state text not null check (state in ('open', 'acknowledged', 'resolved', 'false_alarm', 'muted')),
    muted_until timestamptz(3),
    owner_id uuid,
    owner_login text,
    -- Counts changes: each has a row of finding_changes.
    revision integer not null,
    created_at timestamptz(3) not null,
    -- When it was opened last.
    opened_at timestamptz(3) not null,
    closed_at timestamptz(3),
    closed_by text,
    primary key (project_id, id),
    check ((state = 'muted') = (muted_until is not null)),
    check ((state in ('resolved', 'false_alarm')) = (closed_at is not null))
  );
  create index findings_recent on findings (project_id, opened_at desc, id desc);
  -- For cursors: a list may be of all projects.
  create index findings_by_id on findings (id);
  create index findings_age on findings (opened_at);
  create index findings_late on findings (opened_at) where state in ('open', 'acknowledged');

  -- A row for each partition of the scores' topic, so that sinks do not wait for each other.
  create table finding_counters (
    project_id uuid not null,
    finding_id uuid not null,
    lane integer not null,
    count bigint not null,
    -- Rows that finding_values got from this lane.
    value_count integer not null,
    first_request_id uuid not null,
    last_request_id uuid not null,
    first_seen_at timestamptz(3) not null,
    last_seen_at timestamptz(3) not null,
    primary key (project_id, finding_id, lane),
    foreign key (project_id, finding_id) references findings (project_id, id) on delete cascade
  );

  -- Keyed hashes of what was found, the first 1,000 of each lane; each goes with the last call that has it.
  create table finding_values (
    project_id uuid not null,
    finding_id uuid not null,
    hash bytea not null check (octet_length(hash) = 16),
    lane integer not null,
    first_request_id uuid not null,
    last_request_id uuid not null,
    primary key (project_id, finding_id, hash, lane),
    foreign key (project_id, finding_id) references findings (project_id, id) on delete cascade
  );
  create index finding_values_last on finding_values (project_id, last_request_id);
`

const byPeople = `
  create table finding_comments (
    project_id uuid not null,
    id uuid not null,
    finding_id uuid not null,
    author text not null,
    author_kind text not null check (author_kind in ('person', 'key', 'operator')),
    text text not null,
    created_at timestamptz(3) not null,
    primary key (project_id, id),
    foreign key (project_id, finding_id) references findings (project_id, id) on delete cascade
  );
  create index finding_comments_recent on finding_comments (project_id, finding_id, created_at desc, id desc);

  create table finding_changes (
    project_id uuid not null,
    finding_id uuid not null,
    -- Of the finding, after the change.
    revision integer not null,
    -- Findings that were changed at once share it.
    change_id uuid not null,
    at timestamptz(3) not null,
    -- Null: a call.
    actor_kind text check (actor_kind in ('person', 'key', 'operator')),
    actor_name text,
    -- { state, muted_until, owner_id, owner_login }
    before jsonb not null,
    after jsonb not null,
    primary key (project_id, finding_id, revision),
    foreign key (project_id, finding_id) references findings (project_id, id) on delete cascade
  );
  create index finding_changes_together on finding_changes (project_id, change_id);
  create index finding_changes_age on finding_changes (at);
`

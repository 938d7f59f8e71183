import type { Knex } from 'knex'

/**
 * What was asked to be erased and the calls that were (docs/decisions/0007); and the index of dead letters.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(erasures + deadLetters)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table dead_letters, erased_requests, erasures')
}

const erasures = `
  create table erasures (
    id uuid primary key,
    project_id uuid not null,
    scope text not null check (scope in ('request', 'session', 'user', 'project')),
    -- The request's UUID, the session or the user; empty for a project.
    subject text not null,
    -- Calls made or taken until then.
    requested_at timestamptz(3) not null,
    requested_by text not null check (requested_by in ('operator', 'key')),
    status text not null default 'erasing' check (status in ('erasing', 'erased')),
    -- The first transaction after the last call was erased: older ones may still store calls of the erasure.
    barrier xid8,
    erased_calls bigint not null default 0,
    erased_at timestamptz(3),
    kept_in_kafka_until timestamptz(3) not null
  );
  create index erasures_recent on erasures (project_id, requested_at desc, id desc);
  create index erasures_subject on erasures (project_id, scope, md5(subject));
  create index erasures_open on erasures (requested_at) where status = 'erasing';

  -- Tells later records of an erased call (its events). Kept until Kafka has nothing of it.
  create table erased_requests (
    project_id uuid not null,
    -- As events name it, and as tables do.
    request text not null,
    request_id uuid not null,
    erasure_id uuid not null references erasures (id) on delete cascade,
    primary key (project_id, request)
  );
  create index erased_requests_uuid on erased_requests (project_id, request_id);
  create index erased_requests_erasure on erased_requests (erasure_id);
`

/** Where each dead letter stands and what became of it, never what it holds. */
const deadLetters = `
  create table dead_letters (
    id uuid primary key,
    -- Where its record stands: in the dead-letter topic of \`topic\`.
    cluster text not null,
    topic text not null,
    partition integer not null,
    "offset" bigint not null,
    -- Where the record stood that could not be handled, and the group that gave it up.
    source_partition integer,
    source_offset bigint,
    group_id text,
    code text not null,
    message text not null,
    record_key text,
    project_id uuid,
    request_id uuid,
    -- Null: it has no value, so there is nothing to send again.
    value_bytes integer,
    dead_at timestamptz(3) not null,
    -- lost: Kafka no longer kept it when it was to be sent again.
    status text not null default 'open' check (status in ('open', 'redriven', 'dropped', 'lost')),
    decided_at timestamptz(3),
    reason text
  );
  create index dead_letters_recent on dead_letters (dead_at desc, id desc);
  create index dead_letters_open on dead_letters (topic, dead_at, id) where status = 'open';
  create index dead_letters_project on dead_letters (project_id, dead_at desc, id desc);
  create index dead_letters_code on dead_letters (code, dead_at desc, id desc);
  create index dead_letters_status on dead_letters (status, dead_at desc, id desc);
`

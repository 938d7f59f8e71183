import type { Knex } from 'knex'

/** What was asked to be erased, and the calls that were: docs/decisions/0007. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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
      -- The first transaction after the last call was erased: older ones may still store what they did not know to be erased.
      barrier xid8,
      erased_calls bigint not null default 0,
      erased_at timestamptz(3),
      kept_in_kafka_until timestamptz(3) not null
    );
    create index erasures_recent on erasures (project_id, requested_at desc, id desc);
    create index erasures_subject on erasures (project_id, scope, md5(subject));
    create index erasures_open on erasures (requested_at) where status = 'erasing';

    -- By these, what comes of an erased call later is known (its events). Kept until Kafka has nothing of it.
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

    create index event_outbox_project on event_outbox (project_id, created_at);
    create index webhook_deliveries_project on webhook_deliveries (project_id, event_created_at);
    create index webhook_deliveries_age on webhook_deliveries using brin (created_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index webhook_deliveries_age, webhook_deliveries_project, event_outbox_project;
    drop table erased_requests, erasures;
  `)
}

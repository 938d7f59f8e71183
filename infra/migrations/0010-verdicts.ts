import type { Knex } from 'knex'

/**
 * What the live scores of a call say together (schemas/call-reading.ts), beside its worst label, and how many
 * calls have each verdict (docs/decisions/0027); and whether scorers have a judge.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(readings + rollups + judge)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table judge_status, verdict_rollups, verdict_rollups_by_day;
    delete from rollup_days where name = 'verdict_rollups';
    drop trigger request_verdicts_reading on request_verdicts;
    drop function forget_reading();
    drop index request_verdicts_unread, request_verdicts_underived;
    alter table request_verdicts drop column verdict, drop column decided_count, drop column applicable_count,
      drop column unread_scorers, drop column reading_revision;
  `)
}

// A sink of the version before goes on writing verdicts while this one starts. It leaves reading_revision as
// it is; each write that knows readings raises it.
const readings = `
  alter table request_verdicts
    add column verdict text,
    add column decided_count integer,
    add column applicable_count integer,
    -- JSON array of names; null: none.
    add column unread_scorers jsonb,
    -- Null: the columns before are to be derived from the scores.
    add column reading_revision integer;

  create function forget_reading() returns trigger language plpgsql as $$
  begin
    new.reading_revision := null;
    return new;
  end $$;
  create trigger request_verdicts_reading before update on request_verdicts for each row
    when (new.reading_revision is not distinct from old.reading_revision) execute function forget_reading();

  create index request_verdicts_unread on request_verdicts (project_id, verdict, request_created_at desc, request_id desc)
    where verdict in ('partly_read', 'not_read');
  create index request_verdicts_underived on request_verdicts (request_created_at) where reading_revision is null;
`

// A table of its own, which sinks of the version before leave alone: they would fold columns that they do not
// know away.
const rollups = `
  create table verdict_rollups (
    project_id uuid not null,
    hour timestamptz(0) not null,
    series uuid not null,
    lane integer not null,
    is_other boolean not null,
    source text, model text, provider text, agent_name text, verdict text,
    calls bigint not null,
    decided bigint not null,
    applicable bigint not null,
    primary key (project_id, hour, series, lane)
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
  create index verdict_rollups_lanes on verdict_rollups (hour, project_id) where lane >= 0;
  create index verdict_rollups_hour on verdict_rollups using brin (hour);
  create table verdict_rollups_by_day (like verdict_rollups including defaults including constraints);
  alter table verdict_rollups_by_day add primary key (project_id, hour, series);
  insert into rollup_days (name) values ('verdict_rollups');
`

// At most two rows: of scorers with a judge, and of those without.
const judge = `
  create table judge_status (
    is_configured boolean primary key,
    seen_at timestamptz not null
  );
`

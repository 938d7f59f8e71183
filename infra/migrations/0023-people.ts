import type { Knex } from 'knex'

/** Who uses the dashboard, which of them is signed in, and who changed or saw what. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
  await knex.raw(findLogin)
}

const tables = `
  create table people (
    id uuid primary key,
    -- In lower case: a name or an address.
    login text not null unique,
    name text not null,
    role text not null check (role in ('admin', 'analyst', 'viewer')),
    -- Null: signs in by OpenID Connect alone.
    password_hash text,
    oidc_issuer text,
    oidc_subject text,
    disabled_at timestamptz(3),
    created_at timestamptz(3) not null,
    last_login_at timestamptz(3),
    unique (oidc_issuer, oidc_subject),
    check ((oidc_issuer is null) = (oidc_subject is null))
  );
  create table people_projects (
    person_id uuid not null references people (id) on delete cascade,
    project_id uuid not null references projects (id) on delete cascade,
    primary key (person_id, project_id)
  );
  create index people_projects_project on people_projects (project_id);
  -- Not to be mixed up with sessions of agents. A token is 256 random bits, so that a plain hash of it tells nothing.
  create table logins (
    token_sha256 bytea primary key,
    id uuid not null unique,
    person_id uuid not null references people (id) on delete cascade,
    created_at timestamptz(3) not null,
    last_seen_at timestamptz(3) not null,
    ends_at timestamptz(3) not null,
    address text,
    user_agent text
  );
  create index logins_person on logins (person_id, created_at);
  create index logins_end on logins (ends_at);
  create table login_throttles (
    -- SHA-256 of who tries and from where, so that mistyped names and passwords are not kept.
    key bytea primary key,
    failures integer not null,
    blocked_until timestamptz(3) not null,
    last_failed_at timestamptz(3) not null
  );
  create index login_throttles_age on login_throttles (last_failed_at);
  create table audit_log (
    id uuid primary key,
    at timestamptz(3) not null,
    actor_kind text not null check (actor_kind in ('person', 'key', 'operator')),
    actor_id uuid,
    -- As it was then: people change their names.
    actor_name text,
    address text,
    action text not null,
    subject text,
    project_id uuid,
    detail jsonb
  );
  create index audit_log_recent on audit_log (at desc, id desc);
  create index audit_log_project on audit_log (project_id, at desc, id desc);
  create index audit_log_actor on audit_log (actor_id, at desc, id desc);
`

// Its owner's rights and a fixed path, as find_api_key: who asks is known only after it.
const findLogin = `
  do $do$ begin
    execute format($function$
      create function find_login(p_sha256 bytea, p_now timestamptz, p_idle interval)
        returns table (id uuid, person_id uuid, login text, name text, role text, project_ids uuid[])
        language sql security definer set search_path = %1$I, pg_temp as $$
          -- Once a minute at most: each of a page's requests would otherwise write a row version.
          update logins l set last_seen_at = p_now
          where l.token_sha256 = p_sha256 and l.last_seen_at < p_now - interval '1 minute'
            and l.last_seen_at > p_now - p_idle and l.ends_at > p_now;
          select l.id, p.id, p.login, p.name, p.role,
            array(select a.project_id from people_projects a where a.person_id = p.id order by a.project_id)
          from logins l join people p on p.id = l.person_id
          where l.token_sha256 = p_sha256 and l.last_seen_at > p_now - p_idle and l.ends_at > p_now and p.disabled_at is null
        $$
    $function$, current_schema());
    revoke all on function find_login(bytea, timestamptz, interval) from public;
  end $do$;
`

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function find_login(bytea, timestamptz, interval);
    drop table audit_log, login_throttles, logins, people_projects, people;
  `)
}

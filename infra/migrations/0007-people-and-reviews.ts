import type { Knex } from 'knex'

/** Who uses the dashboard, who is signed in, who changed or saw what, and what people think of verdicts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(peopleTables)
  await knex.raw(findLogin)
  await knex.raw(reviewTables)
  await knex.raw(countReviews)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table review_counts, score_reviews;
    drop function count_reviews();
    drop function find_login(bytea, timestamptz, interval);
    drop table audit_log, login_throttles, logins, people_projects, people;
  `)
}

const peopleTables = `
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
  -- Not the sessions of agents. A token is 256 random bits, so that a plain hash of it tells nothing.
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
    -- SHA-256 of the name and the address, so that mistyped names and passwords are not kept.
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

const reviewTables = `
  create table score_reviews (
    id uuid primary key,
    project_id uuid not null references projects (id),
    request_id uuid not null,
    request_created_at timestamptz(3) not null,
    score_id uuid not null,
    -- Of the score as it was when it was reviewed.
    scorer_name text not null,
    scorer_version text not null,
    score_label text not null,
    expected_label text not null check (expected_label in ('safe', 'unsafe')),
    agrees boolean not null,
    reviewer text not null,
    reason text,
    created_at timestamptz(3) not null,
    -- Signed in as that person, or named by a key or the operator: these do not replace the person's own
    -- review.
    reviewer_kind text not null default 'key' check (reviewer_kind in ('person', 'key', 'operator')),
    unique (project_id, score_id, reviewer_kind, reviewer)
  );
  create index score_reviews_recent on score_reviews (project_id, created_at desc, id desc);
  create index score_reviews_request on score_reviews (project_id, request_id);
  create index score_reviews_reviewer on score_reviews (project_id, reviewer, created_at desc, id desc);
  create index score_reviews_scorer on score_reviews (project_id, scorer_name, created_at desc, id desc)
    include (agrees, score_label, expected_label);

  -- How often people agree with each scorer, by the day, kept by triggers: counting reviews takes longer the
  -- more there are.
  create table review_counts (
    project_id uuid not null references projects (id),
    scorer_name text not null,
    -- Midnight, UTC.
    day timestamptz(3) not null,
    reviews integer not null,
    agreed integer not null,
    false_alarms integer not null,
    missed integer not null,
    primary key (project_id, scorer_name, day)
  );
`

function countOf(reviews: string): string {
  return `select project_id, scorer_name, date_trunc('day', created_at, 'UTC') as day, count(*) as reviews, count(*) filter (where agrees) as agreed,
      count(*) filter (where score_label = 'unsafe' and expected_label = 'safe') as false_alarms,
      count(*) filter (where score_label = 'safe' and expected_label = 'unsafe') as missed
    from ${reviews} group by 1, 2, 3 order by 1, 2, 3`
}
const countReviews = `
  do $do$ begin
    execute format($function$
      create function count_reviews() returns trigger
        language plpgsql security definer set search_path = %1$I, pg_temp as $$
        begin
          if tg_op <> 'DELETE' then
            insert into review_counts as c ${countOf('came')}
              on conflict (project_id, scorer_name, day) do update set reviews = c.reviews + excluded.reviews,
                agreed = c.agreed + excluded.agreed, false_alarms = c.false_alarms + excluded.false_alarms, missed = c.missed + excluded.missed;
          end if;
          if tg_op <> 'INSERT' then
            update review_counts c set reviews = c.reviews - w.reviews, agreed = c.agreed - w.agreed,
                false_alarms = c.false_alarms - w.false_alarms, missed = c.missed - w.missed
              from (${countOf('went')}) w where (c.project_id, c.scorer_name, c.day) = (w.project_id, w.scorer_name, w.day);
            delete from review_counts c using (${countOf('went')}) w
              where (c.project_id, c.scorer_name, c.day) = (w.project_id, w.scorer_name, w.day) and c.reviews = 0;
          end if;
          return null;
        end $$;
    $function$, current_schema());
    revoke all on function count_reviews() from public;
  end $do$;
  create trigger score_reviews_came after insert on score_reviews
    referencing new table as came for each statement execute function count_reviews();
  create trigger score_reviews_changed after update on score_reviews
    referencing old table as went new table as came for each statement execute function count_reviews();
  create trigger score_reviews_went after delete on score_reviews
    referencing old table as went for each statement execute function count_reviews();
`

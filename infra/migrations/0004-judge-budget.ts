import type { Knex } from 'knex'

/**
 * What the judge has cost each project in a period, and what is reserved for calls to it that are under way.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- No foreign key: what was paid for stays when a project goes.
    create table judge_spend (
      project_id uuid not null,
      period_start timestamptz not null,
      period_reset_at timestamptz not null,
      spent_usd numeric not null default 0,
      reserved_usd numeric not null default 0,
      calls bigint not null default 0,
      prompt_tokens bigint not null default 0,
      completion_tokens bigint not null default 0,
      primary key (project_id, period_start)
    );

    -- One row a call to the judge under way. given_back: its scorer did not return in time; it may still
    -- settle.
    create table judge_reservations (
      id uuid primary key,
      project_id uuid not null,
      period_start timestamptz not null,
      usd numeric not null check (usd >= 0),
      expires_at timestamptz not null,
      given_back boolean not null default false
    );
    create index judge_reservations_project on judge_reservations (project_id, expires_at);

    create table judge_spend_by_scorer (
      project_id uuid not null,
      period_start timestamptz not null,
      scorer_name text not null,
      -- Scorers that share a call to the judge share its cost.
      spent_usd numeric not null default 0,
      calls bigint not null default 0,
      primary key (project_id, period_start, scorer_name)
    );
  `)
  for (const definition of [judgePeriod, reserve, settle, settleByScorer]) await knex.raw(definition)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function settle_judge_usd(uuid, numeric, bigint, bigint, text[]);
    drop function settle_judge_usd(uuid, numeric, bigint, bigint);
    drop function reserve_judge_usd(uuid, uuid, numeric, numeric, interval, timestamptz);
    drop function judge_period(uuid, timestamptz);
    drop table judge_spend_by_scorer, judge_reservations, judge_spend;
  `)
}

/**
 * The project's period, without a lock on the row that every admission locks; calendar months in UTC where
 * there is none.
 */
const judgePeriod = `
  create function judge_period(p_project uuid, p_now timestamptz, out o_start timestamptz, out o_reset_at timestamptz)
  language plpgsql as $$
  begin
    select period_start, period_reset_at into o_start, o_reset_at from subscriptions where project_id = p_project;
    if o_start is not null and p_now >= o_reset_at then
      select period_start, period_reset_at into o_start, o_reset_at from roll_period(p_project, p_now);
    end if;
    if o_start is null then
      o_start := date_trunc('month', p_now at time zone 'UTC') at time zone 'UTC';
      o_reset_at := (date_trunc('month', p_now at time zone 'UTC') + interval '1 month') at time zone 'UTC';
    end if;
  end $$;
`

/**
 * Reserves `p_usd` for one call, if what is spent and reserved leaves room under the project's cap and
 * `p_cap` (null: none). `p_usd` null: the call's cost is unknown, which is refused where there is a cap.
 * Answers reserved, budget_spent or no_price. Leases go by Postgres's clock: by a scorer's own, one that is
 * ahead would release what others reserved, and the cap would not hold.
 */
const reserve = `
  create function reserve_judge_usd(
    p_id uuid, p_project uuid, p_usd numeric, p_cap numeric, p_lease interval, p_now timestamptz
  ) returns text language plpgsql as $$
  declare
    v_now timestamptz := least(p_now, now());
    v_start timestamptz;
    v_reset_at timestamptz;
    v_cap numeric;
    v_committed numeric;
    v_returned numeric;
  begin
    select o_start, o_reset_at into v_start, v_reset_at from judge_period(p_project, v_now);
    insert into judge_spend (project_id, period_start, period_reset_at) values (p_project, v_start, v_reset_at)
      on conflict do nothing;
    -- Everything below happens one call at a time for a project: this row's lock is what makes the cap hard.
    perform from judge_spend where project_id = p_project and period_start = v_start for update;

    delete from judge_reservations where project_id = p_project and given_back and expires_at < now() - interval '1 day';
    with late as (
      update judge_reservations set given_back = true
        where project_id = p_project and period_start = v_start and not given_back and expires_at <= now() returning usd
    ) select coalesce(sum(usd), 0) into v_returned from late;
    update judge_spend set reserved_usd = reserved_usd - v_returned
      where project_id = p_project and period_start = v_start returning spent_usd + reserved_usd into v_committed;

    -- Read under the lock: a cap that was lowered a moment ago counts. least() passes over nulls.
    select least(p_cap, (select judge_usd_per_period from projects where id = p_project)) into v_cap;
    if v_cap is not null and p_usd is null then return 'no_price'; end if;
    if v_cap is not null and v_committed + p_usd > v_cap then return 'budget_spent'; end if;
    insert into judge_reservations (id, project_id, period_start, usd, expires_at)
      values (p_id, p_project, v_start, coalesce(p_usd, 0), now() + p_lease);
    update judge_spend set reserved_usd = reserved_usd + coalesce(p_usd, 0)
      where project_id = p_project and period_start = v_start;
    return 'reserved';
  end $$;
`

/** Replaces a call's reservation by its cost. Once: a repetition finds no reservation and changes nothing. */
const settle = `
  create function settle_judge_usd(p_id uuid, p_usd numeric, p_prompt_tokens bigint, p_completion_tokens bigint)
  returns void language plpgsql as $$
  declare
    v_project uuid;
    v_start timestamptz;
    v_done judge_reservations;
  begin
    -- In the order of reserve_judge_usd, spend before reservation: the other way round two calls could \
wait for each other.
    select project_id, period_start into v_project, v_start from judge_reservations where id = p_id;
    perform from judge_spend where project_id = v_project and period_start = v_start for update;
    delete from judge_reservations where id = p_id returning * into v_done;
    if v_done.id is null then return; end if;
    update judge_spend set
      spent_usd = spent_usd + p_usd,
      reserved_usd = reserved_usd - case when v_done.given_back then 0 else v_done.usd end,
      calls = calls + 1,
      prompt_tokens = judge_spend.prompt_tokens + p_prompt_tokens,
      completion_tokens = judge_spend.completion_tokens + p_completion_tokens
    where project_id = v_project and period_start = v_start;
  end $$;
`

const settleByScorer = `
  create function settle_judge_usd(
    p_id uuid, p_usd numeric, p_prompt_tokens bigint, p_completion_tokens bigint, p_scorers text[]
  ) returns void language plpgsql as $$
  declare
    v_project uuid;
    v_start timestamptz;
  begin
    select project_id, period_start into v_project, v_start from judge_reservations where id = p_id;
    -- The lock that every reservation and settlement of the project takes first: under it the rows \
of its scorers are nobody else's.
    perform from judge_spend where project_id = v_project and period_start = v_start for update;
    -- A repetition, perhaps of one that had the lock until now.
    if not exists (select from judge_reservations where id = p_id) then return; end if;
    perform settle_judge_usd(p_id, p_usd, p_prompt_tokens, p_completion_tokens);
    insert into judge_spend_by_scorer as book (project_id, period_start, scorer_name, spent_usd, calls)
      -- A third has no end. A token of the cheapest models costs some 1e-8.
      select v_project, v_start, scorer, round(p_usd / cardinality(p_scorers), 12), 1 from unnest(p_scorers) as scorer
      on conflict (project_id, period_start, scorer_name) do update
        set spent_usd = book.spent_usd + excluded.spent_usd, calls = book.calls + 1;
  end $$;
`

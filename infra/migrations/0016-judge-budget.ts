import type { Knex } from 'knex'

/** What the judge has cost each project in a period, and what is set aside for calls to it that are under way. */
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

    -- One row a call to the judge under way. given_back: its scorer did not come back in time; it may still settle.
    create table judge_reservations (
      id uuid primary key,
      project_id uuid not null,
      period_start timestamptz not null,
      usd numeric not null check (usd >= 0),
      expires_at timestamptz not null,
      given_back boolean not null default false
    );
    create index judge_reservations_project on judge_reservations (project_id, expires_at);
  `)
  await knex.raw(judgePeriod)
  await knex.raw(reserve)
  await knex.raw(settle)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function settle_judge_usd(uuid, numeric, bigint, bigint);
    drop function reserve_judge_usd(uuid, uuid, numeric, numeric, interval, timestamptz);
    drop function judge_period(uuid, timestamptz);
    drop table judge_reservations, judge_spend;
  `)
}

/** The project's period, without a lock on the row that every admission locks; calendar months in UTC where there is none. */
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
 * Sets \`p_usd\` aside for one call, if what is spent and set aside leaves room under the project's cap and \`p_cap\` (null: none).
 * \`p_usd\` null: nobody knows what the call costs, which is refused where there is a cap. Answers reserved, budget_spent or no_price.
 */
const reserve = `
  create function reserve_judge_usd(
    p_id uuid, p_project uuid, p_usd numeric, p_cap numeric, p_lease interval, p_now timestamptz
  ) returns text language plpgsql as $$
  declare
    v_start timestamptz;
    v_reset_at timestamptz;
    v_cap numeric;
    v_committed numeric;
    v_returned numeric;
  begin
    select o_start, o_reset_at into v_start, v_reset_at from judge_period(p_project, p_now);
    insert into judge_spend (project_id, period_start, period_reset_at) values (p_project, v_start, v_reset_at)
      on conflict do nothing;
    -- Everything below happens one call at a time for a project: this row's lock is what makes the cap hard.
    perform from judge_spend where project_id = p_project and period_start = v_start for update;

    delete from judge_reservations where project_id = p_project and given_back and expires_at < p_now - interval '1 day';
    with late as (
      update judge_reservations set given_back = true
        where project_id = p_project and period_start = v_start and not given_back and expires_at <= p_now returning usd
    ) select coalesce(sum(usd), 0) into v_returned from late;
    update judge_spend set reserved_usd = reserved_usd - v_returned
      where project_id = p_project and period_start = v_start returning spent_usd + reserved_usd into v_committed;

    -- Read under the lock: a cap that was lowered a moment ago counts. least() passes over nulls.
    select least(p_cap, (select judge_usd_per_period from projects where id = p_project)) into v_cap;
    if v_cap is not null and p_usd is null then return 'no_price'; end if;
    if v_cap is not null and v_committed + p_usd > v_cap then return 'budget_spent'; end if;
    insert into judge_reservations (id, project_id, period_start, usd, expires_at)
      values (p_id, p_project, v_start, coalesce(p_usd, 0), p_now + p_lease);
    update judge_spend set reserved_usd = reserved_usd + coalesce(p_usd, 0)
      where project_id = p_project and period_start = v_start;
    return 'reserved';
  end $$;
`

/** Puts what a call has cost in the place of what was set aside for it. Once: a repetition finds no reservation and changes nothing. */
const settle = `
  create function settle_judge_usd(p_id uuid, p_usd numeric, p_prompt_tokens bigint, p_completion_tokens bigint)
  returns void language plpgsql as $$
  declare
    v_project uuid;
    v_start timestamptz;
    v_done judge_reservations;
  begin
    -- In the order of reserve_judge_usd, spend before reservation: the other way round two calls could wait for each other.
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

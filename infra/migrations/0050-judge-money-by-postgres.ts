import type { Knex } from 'knex'

/**
 * Reservations of the judge's money are given back, and forgotten, by Postgres's clock. A scorer that was ahead of the others by more than a lease gave back what they
 * had set aside for calls under way, and one that was years ahead had it deleted with its next, so that it was never booked: the cap did not hold. One that
 * was behind had its own given back at once. A project without a subscription is in no month later than Postgres's.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(reserve('least(p_now, now())', 'now()'))
  // What a wrong clock had moved years ahead before 0049 came: over now, so that the next to look at it moves it to the period that today is in.
  await knex.raw(
    `update subscriptions set period_reset_at = now() where period_start > now() + interval '1 day'`,
  )
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(reserve('p_now', 'p_now'))
}

/** As in 0016, but for the clock that it goes by. */
const reserve = (periodAt: string, leasedAt: string) => `
  create or replace function reserve_judge_usd(
    p_id uuid, p_project uuid, p_usd numeric, p_cap numeric, p_lease interval, p_now timestamptz
  ) returns text language plpgsql as $$
  declare
    v_now timestamptz := ${periodAt};
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

    delete from judge_reservations where project_id = p_project and given_back and expires_at < ${leasedAt} - interval '1 day';
    with late as (
      update judge_reservations set given_back = true
        where project_id = p_project and period_start = v_start and not given_back and expires_at <= ${leasedAt} returning usd
    ) select coalesce(sum(usd), 0) into v_returned from late;
    update judge_spend set reserved_usd = reserved_usd - v_returned
      where project_id = p_project and period_start = v_start returning spent_usd + reserved_usd into v_committed;

    -- Read under the lock: a cap that was lowered a moment ago counts. least() passes over nulls.
    select least(p_cap, (select judge_usd_per_period from projects where id = p_project)) into v_cap;
    if v_cap is not null and p_usd is null then return 'no_price'; end if;
    if v_cap is not null and v_committed + p_usd > v_cap then return 'budget_spent'; end if;
    insert into judge_reservations (id, project_id, period_start, usd, expires_at)
      values (p_id, p_project, v_start, coalesce(p_usd, 0), ${leasedAt} + p_lease);
    update judge_spend set reserved_usd = reserved_usd + coalesce(p_usd, 0)
      where project_id = p_project and period_start = v_start;
    return 'reserved';
  end $$;
`

import type { Knex } from 'knex'

/**
 * A period of the quota, of costs and of the judge's budget is over by Postgres's clock too. One ingest, scorer or sink whose host had begun in 2038 moved
 * each project that it worked for into a period of that year, in which it then stayed: with one month's quota for all the time until then.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(rollPeriod('least(p_now, now())'))
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(rollPeriod('p_now'))
}

/** Moves a project's period on to the one that `now` is in. Months in UTC counted from the anchor. Locks the row. */
const rollPeriod = (now: string) => `
  create or replace function roll_period(p_project uuid, p_now timestamptz) returns subscriptions language plpgsql as $$
  declare
    v_now timestamptz := ${now};
    v_row subscriptions;
    v_months integer;
    v_anchor timestamp;
  begin
    select * into v_row from subscriptions where project_id = p_project for update;
    if not found or v_now < v_row.period_reset_at then return v_row; end if;
    v_anchor := v_row.period_anchor at time zone 'UTC';
    -- Counted from the anchor each time: adding a month to a 28th that was a 31st would never come back.
    v_months := (extract(year from age(v_now at time zone 'UTC', v_anchor)) * 12
               + extract(month from age(v_now at time zone 'UTC', v_anchor)))::integer;
    while (v_anchor + make_interval(months => v_months)) at time zone 'UTC' > v_now loop v_months := v_months - 1; end loop;
    while (v_anchor + make_interval(months => v_months + 1)) at time zone 'UTC' <= v_now loop v_months := v_months + 1; end loop;
    update subscriptions set
      requests_this_period = 0, quota_alerted = false, warning_alerted = false, cost_alerted = false,
      period_start = (v_anchor + make_interval(months => v_months)) at time zone 'UTC',
      period_reset_at = (v_anchor + make_interval(months => v_months + 1)) at time zone 'UTC'
    where project_id = p_project returning * into v_row;
    return v_row;
  end $$;
`

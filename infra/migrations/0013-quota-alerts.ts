import type { Knex } from 'knex'

/** Warnings before the quota and of costs, once a period each; claims by month; and how far claims have been looked at again. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table subscriptions
      add column warning_alerted boolean not null default false,
      add column cost_alerted boolean not null default false;

    -- Claims taken before this have been looked at: those whose call was never stored were given back.
    create table quota_sweeps (only_row boolean primary key default true check (only_row), swept_until timestamptz not null);
    -- Claims are made in the order of their time, so this costs a page for thousands of rows.
    create index quota_claims_age on quota_claims using brin (claimed_at);
  `)
  await knex.raw(
    rollPeriod(
      'requests_this_period = 0, quota_alerted = false, warning_alerted = false, cost_alerted = false',
    ),
  )
  await knex.raw('drop function admit_requests(uuid, uuid[], timestamptz)')
  await knex.raw(admitRequests)
  await knex.raw(ensureClaimPartition)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    do $$ declare v_name text; begin
      for v_name in select inhrelid::regclass::text from pg_inherits
        where inhparent = 'quota_claims'::regclass and inhrelid <> 'quota_claims_default'::regclass
      loop
        execute format('alter table quota_claims detach partition %s', v_name);
        execute format('insert into quota_claims select * from %s', v_name);
        execute format('drop table %s', v_name);
      end loop;
    end $$;
    drop function ensure_claim_partition(date);
    drop function admit_requests(uuid, uuid[], timestamptz);
    drop index quota_claims_age;
    drop table quota_sweeps;
  `)
  await knex.raw(rollPeriod('requests_this_period = 0, quota_alerted = false'))
  await knex.raw('alter table subscriptions drop column warning_alerted, drop column cost_alerted')
  await knex.raw(admitRequestsBefore)
}

/** Moves a project's period on to the one that `p_now` is in. Months in UTC counted from the anchor. Locks the row. */
const rollPeriod = (reset: string) => `
  create or replace function roll_period(p_project uuid, p_now timestamptz) returns subscriptions language plpgsql as $$
  declare
    v_row subscriptions;
    v_months integer;
    v_anchor timestamp;
  begin
    select * into v_row from subscriptions where project_id = p_project for update;
    if not found or p_now < v_row.period_reset_at then return v_row; end if;
    v_anchor := v_row.period_anchor at time zone 'UTC';
    -- Counted from the anchor each time: adding a month to a 28th that was a 31st would never come back.
    v_months := (extract(year from age(p_now at time zone 'UTC', v_anchor)) * 12
               + extract(month from age(p_now at time zone 'UTC', v_anchor)))::integer;
    while (v_anchor + make_interval(months => v_months)) at time zone 'UTC' > p_now loop v_months := v_months - 1; end loop;
    while (v_anchor + make_interval(months => v_months + 1)) at time zone 'UTC' <= p_now loop v_months := v_months + 1; end loop;
    update subscriptions set
      ${reset},
      period_start = (v_anchor + make_interval(months => v_months)) at time zone 'UTC',
      period_reset_at = (v_anchor + make_interval(months => v_months + 1)) at time zone 'UTC'
    where project_id = p_project returning * into v_row;
    return v_row;
  end $$;
`

const declareAdmit = `
    v_row subscriptions;
    v_known uuid[];
    v_new uuid[];`

const admitNew = `
    v_row := roll_period(p_project, p_now);
    if v_row.project_id is null then raise exception 'project % has no subscription', p_project using errcode = 'no_data_found'; end if;
    o_tier := v_row.tier; o_count := v_row.requests_this_period; o_crossed := false;
    o_period_start := v_row.period_start; o_period_reset_at := v_row.period_reset_at;
    select request_limit into o_limit from tiers where tier = v_row.tier;
    if o_limit is null then o_admitted := p_ids; return; end if;

    -- The period before counts too: a retry across the boundary has been paid for.
    select coalesce(array_agg(distinct request_id), '{}') into v_known from quota_claims
      where project_id = p_project and request_id = any (p_ids) and period_start >= v_row.period_start - interval '32 days';
    select coalesce(array_agg(id order by place), '{}') into v_new from (
      select id, min(place) as place from unnest(p_ids) with ordinality as wanted (id, place)
      where id <> all (v_known) group by id order by 2 limit greatest(o_limit - o_count, 0)
    ) fitting;
    insert into quota_claims (project_id, period_start, request_id) select p_project, v_row.period_start, unnest(v_new);
    o_admitted := v_known || v_new;
    o_count := o_count + cardinality(v_new);
    o_crossed := not v_row.quota_alerted and exists (select 1 from unnest(p_ids) as wanted (id) where id <> all (o_admitted));`

/**
 * As in 0001, and: \`o_warned\` is true in the one call of a period that first reaches the project's warning percentage; a claim that is used again
 * is as young as its last use, so that nobody gives it back while its call is on its way.
 */
const admitRequests = `
  create function admit_requests(
    p_project uuid, p_ids uuid[], p_now timestamptz,
    out o_admitted uuid[], out o_tier text, out o_limit bigint, out o_count bigint,
    out o_period_start timestamptz, out o_period_reset_at timestamptz, out o_crossed boolean, out o_warned boolean
  ) language plpgsql as $$
  declare${declareAdmit}
    v_percent integer;
  begin
    o_warned := false;${admitNew}
    if cardinality(v_known) > 0 then
      update quota_claims set claimed_at = now() where project_id = p_project and request_id = any (v_known)
        and period_start >= v_row.period_start - interval '32 days' and claimed_at < now() - interval '10 minutes';
    end if;
    select quota_warning_percent into v_percent from projects where id = p_project;
    o_warned := v_percent is not null and not v_row.warning_alerted and o_count * 100 >= o_limit * v_percent;
    update subscriptions set requests_this_period = o_count, quota_alerted = quota_alerted or o_crossed,
      warning_alerted = warning_alerted or o_warned where project_id = p_project;
  end $$;
`

const admitRequestsBefore = `
  create function admit_requests(
    p_project uuid, p_ids uuid[], p_now timestamptz,
    out o_admitted uuid[], out o_tier text, out o_limit bigint, out o_count bigint,
    out o_period_start timestamptz, out o_period_reset_at timestamptz, out o_crossed boolean
  ) language plpgsql as $$
  declare${declareAdmit}
  begin${admitNew}
    update subscriptions set requests_this_period = o_count, quota_alerted = quota_alerted or o_crossed where project_id = p_project;
  end $$;
`

/** The partition of claims of periods that start in the month of `p_day`, with what stood in the default one. Returns whether it made it. */
const ensureClaimPartition = `
  create function ensure_claim_partition(p_day date) returns boolean language plpgsql as $$
  declare
    v_name text := 'quota_claims_' || to_char(p_day, 'YYYYMM');
    v_from timestamptz := date_trunc('month', p_day::timestamp) at time zone 'UTC';
    v_to timestamptz := (date_trunc('month', p_day::timestamp) + interval '1 month') at time zone 'UTC';
  begin
    if to_regclass(v_name) is not null then return false; end if;
    -- Nobody may claim in the default partition between moving its rows and attaching.
    lock table quota_claims in share row exclusive mode;
    if exists (select from pg_class where relname = v_name and relnamespace = current_schema()::regnamespace) then return false; end if;
    execute format('create table %I (like quota_claims including defaults including constraints including indexes)', v_name);
    execute format('with moved as (delete from quota_claims_default where period_start >= %L and period_start < %L returning *)
      insert into %I select * from moved', v_from, v_to, v_name);
    execute format('alter table quota_claims attach partition %I for values from (%L) to (%L)', v_name, v_from, v_to);
    return true;
  end $$;
`

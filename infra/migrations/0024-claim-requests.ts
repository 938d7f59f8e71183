import type { Knex } from 'knex'

/**
 * Claims in one statement. `admit_requests` stays for ingest of the version before, until it has been replaced: both lock the same row and write the
 * same claims.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(claimRequests)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop function claim_requests(uuid, uuid[], timestamptz, boolean)')
}

/**
 * Admits of `p_ids` (none of them twice) those that fit, in their order, and moves the counter by exactly the new ones; the others are `o_refused`. Where that would
 * raise an alert and `p_may_alert` is false, nothing is claimed and `o_claimed` is false: its caller asks again in a transaction that writes the
 * alert. `o_crossed` is true in the one call of a period that first refuses, `o_warned` in the one that first reaches the warning percentage. A claim that is
 * used again is as young as its last use, so that nobody gives it back while its call is on its way. Plans are kept: made for each call they take
 * 0.14 of its 0.55 ms.
 */
const claimRequests = `
  create function claim_requests(
    p_project uuid, p_ids uuid[], p_now timestamptz, p_may_alert boolean,
    out o_claimed boolean, out o_refused uuid[], out o_tier text, out o_limit bigint, out o_count bigint,
    out o_period_start timestamptz, out o_period_reset_at timestamptz, out o_crossed boolean, out o_warned boolean
  ) language plpgsql set plan_cache_mode = force_generic_plan as $$
  declare
    v_row record;
    v_known uuid[];
    v_new uuid[] := p_ids;
    v_room bigint;
  begin
    select s.*, t.request_limit, p.quota_warning_percent into v_row
      from roll_period(p_project, p_now) s join tiers t on t.tier = s.tier join projects p on p.id = s.project_id;
    if not found then raise exception 'project % has no subscription', p_project using errcode = 'no_data_found'; end if;
    o_tier := v_row.tier; o_limit := v_row.request_limit; o_count := v_row.requests_this_period;
    o_period_start := v_row.period_start; o_period_reset_at := v_row.period_reset_at;
    o_claimed := true; o_refused := '{}'; o_crossed := false; o_warned := false;
    if o_limit is null then return; end if;

    -- The period before counts too: a retry across the boundary has been paid for.
    select array_agg(distinct request_id) into v_known from quota_claims
      where project_id = p_project and request_id = any (p_ids) and period_start >= v_row.period_start - interval '32 days';
    if v_known is not null then
      v_new := array(select id from unnest(p_ids) with ordinality as wanted (id, place) where id <> all (v_known) order by place);
    end if;
    v_room := greatest(o_limit - o_count, 0);
    if cardinality(v_new) > v_room then
      o_refused := v_new[v_room + 1:];
      v_new := v_new[:v_room];
    end if;
    o_count := o_count + cardinality(v_new);
    o_crossed := not v_row.quota_alerted and cardinality(o_refused) > 0;
    o_warned := v_row.quota_warning_percent is not null and not v_row.warning_alerted and o_count * 100 >= o_limit * v_row.quota_warning_percent;
    o_claimed := p_may_alert or not (o_crossed or o_warned);
    if not o_claimed then return; end if;

    if v_known is not null then
      update quota_claims set claimed_at = now() where project_id = p_project and request_id = any (v_known)
        and period_start >= v_row.period_start - interval '32 days' and claimed_at < now() - interval '10 minutes';
    end if;
    if cardinality(v_new) = 0 and not o_crossed and not o_warned then return; end if;
    insert into quota_claims (project_id, period_start, request_id) select p_project, v_row.period_start, unnest(v_new);
    update subscriptions set requests_this_period = o_count, quota_alerted = quota_alerted or o_crossed,
      warning_alerted = warning_alerted or o_warned where project_id = p_project;
  end $$;
`

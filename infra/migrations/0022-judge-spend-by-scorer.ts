import type { Knex } from 'knex'

/** What the judge has cost a project by scorer, in the same book. Scorers of the version before go on settling by the other form of the function. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table judge_spend_by_scorer (
      project_id uuid not null,
      period_start timestamptz not null,
      scorer_name text not null,
      -- Scorers that were asked together share what it cost.
      spent_usd numeric not null default 0,
      calls bigint not null default 0,
      primary key (project_id, period_start, scorer_name)
    );
  `)
  await knex.raw(settle)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop function settle_judge_usd(uuid, numeric, bigint, bigint, text[]);
    drop table judge_spend_by_scorer;
  `)
}

const settle = `
  create function settle_judge_usd(
    p_id uuid, p_usd numeric, p_prompt_tokens bigint, p_completion_tokens bigint, p_scorers text[]
  ) returns void language plpgsql as $$
  declare
    v_project uuid;
    v_start timestamptz;
  begin
    select project_id, period_start into v_project, v_start from judge_reservations where id = p_id;
    -- The lock that every reservation and settlement of the project takes first: under it the rows of its scorers are nobody else's.
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

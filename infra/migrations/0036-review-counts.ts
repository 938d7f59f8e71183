import type { Knex } from 'knex'

/**
 * How often people agree with each scorer, by the day, kept by triggers: counted from the reviews it took the longer the more there were.
 * And statistics of a column that 0033 added: until Postgres made them by itself it took every second delivery for failed, and started two more
 * processes to find a hundred of a million.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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
    -- Nobody reviews between the first count and the triggers.
    lock table score_reviews in share row exclusive mode;
    insert into review_counts ${countOf('score_reviews')};
  `)
  await knex.raw(triggers)
  await knex.raw('analyze webhook_deliveries')
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger score_reviews_came on score_reviews;
    drop trigger score_reviews_changed on score_reviews;
    drop trigger score_reviews_went on score_reviews;
    drop function count_reviews();
    drop table review_counts;
  `)
}

function countOf(reviews: string): string {
  return `select project_id, scorer_name, date_trunc('day', created_at, 'UTC') as day, count(*) as reviews, count(*) filter (where agrees) as agreed,
      count(*) filter (where score_label = 'unsafe' and expected_label = 'safe') as false_alarms,
      count(*) filter (where score_label = 'safe' and expected_label = 'unsafe') as missed
    from ${reviews} group by 1, 2, 3 order by 1, 2, 3`
}

// With its owner's rights: the API may read counts and change none.
const triggers = `
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

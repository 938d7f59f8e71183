/**
 * What is defined in the schema, a line each: tables, columns, constraints, indexes, functions, triggers,
 * sequences, views, types and comments. Tables that the sink makes by the day or month are left out. Policies
 * and grants follow from row-security.ts.
 */
export async function describeCatalogue(
  query: (sql: string) => PromiseLike<{ rows: { line: string }[] }>,
): Promise<string[]> {
  const { rows } = await query(
    `${own} select line from (${lines.join(' union all ')}) described order by line collate "C"`,
  )
  return rows.map(({ line }) => line)
}

const own = `
  with space as (select oid, quote_ident(nspname) || '.' as prefix from pg_namespace where nspname = current_schema()),
  own as (
    select c.* from pg_class c join space s on s.oid = relnamespace
    where (not relispartition or pg_get_expr(relpartbound, c.oid) = 'DEFAULT') and relname not like 'schema\\_migrations%'
  ),
  tables as (select * from own where relkind in ('r', 'p'))`

// An installation in a schema of another name has the same catalogue.
const unqualified = (definition: string) => `replace(${definition}, (select prefix from space), '')`

const lines = [
  `select concat_ws(' ', 'table', relname, 'partition by ' || pg_get_partkeydef(oid),
     'is ' || pg_get_expr(relpartbound, oid), case when relpersistence <> 'p' then relpersistence::text end) as line from tables`,
  `select concat_ws(' ', 'storage', relname, array_to_string(reloptions, ', ')) from tables where reloptions is not null`,
  // Numbered as they stand now: a dump that is restored closes the gaps that dropped columns left.
  `select concat_ws(' ', 'column', relname, row_number() over (partition by a.attrelid order by attnum), attname, format_type(atttypid, atttypmod),
     case when attnotnull then 'not null' end, nullif(attgenerated::text, ''), nullif(attidentity::text, ''), 'default ' || pg_get_expr(adbin, adrelid),
     case when attcollation <> typcollation then attcollation::regcollation::text end)
   from tables join pg_attribute a on attrelid = tables.oid and attnum > 0 and not attisdropped join pg_type t on t.oid = atttypid
     left join pg_attrdef on adrelid = attrelid and adnum = attnum`,
  // Not-null constraints are rows of their own since Postgres 18; their columns say it already.
  `select concat_ws(' ', 'constraint', relname, conname, ${unqualified('pg_get_constraintdef(k.oid)')})
   from tables join pg_constraint k on conrelid = tables.oid and contype <> 'n'`,
  `select concat_ws(' ', 'index', ${unqualified('pg_get_indexdef(indexrelid)')}) from tables join pg_index on indrelid = tables.oid
   where not exists (select from pg_constraint where conindid = indexrelid and conrelid = indrelid)`,
  `select concat_ws(' ', 'trigger', ${unqualified('pg_get_triggerdef(t.oid)')}, tgenabled)
   from tables join pg_trigger t on tgrelid = tables.oid and not tgisinternal`,
  `select concat_ws(' ', 'function', proname, '(' || ${unqualified('pg_get_function_arguments(p.oid)')} || ')', ${unqualified('pg_get_function_result(p.oid)')},
     lanname, provolatile, proparallel, case when proisstrict then 'strict' end, case when prosecdef then 'security definer' end,
     replace(array_to_string(proconfig, ', '), trim(trailing '.' from (select prefix from space)), 'SCHEMA'), 'body ' || md5(prosrc))
   from pg_proc p join space s on s.oid = pronamespace join pg_language l on l.oid = prolang`,
  `select concat_ws(' ', 'sequence', relname, seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle)
   from own join pg_sequence on seqrelid = own.oid`,
  `select concat_ws(' ', 'view', relname, ${unqualified('pg_get_viewdef(oid)')}) from own where relkind in ('v', 'm')`,
  `select concat_ws(' ', 'type', typname, typtype) from pg_type join space s on s.oid = typnamespace where typtype in ('e', 'd', 'r')`,
  `select concat_ws(' ', 'comment', relname, nullif(objsubid, 0), description) from own join pg_description on objoid = own.oid and classoid = 'pg_class'::regclass`,
]

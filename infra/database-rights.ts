import { Client } from 'pg'
import { databaseRoles } from '#runtime/database-roles.ts'
import { codeOf } from '#runtime/errors.ts'
import { connectionOf, type PostgresAddress } from '#runtime/postgres-address.ts'
import { CannotStart } from './embedded/embedded-part.ts'

const insufficientPrivilege = '42501'
/** The search path has no schema that the login may use. */
const noSchema = '3F000'

/**
 * CannotStart with the statements to run, if `error` is due to a login that may not create tables in its
 * schema; else undefined.
 */
export async function explainMissingRight(
  address: PostgresAddress,
  error: unknown,
): Promise<CannotStart | undefined> {
  if (![insufficientPrivilege, noSchema].includes(codeOf(error))) return undefined
  const [missing] = await ask<{ login: string; schema: string; database: string }>(
    address,
    `select quote_ident(current_user) as login, quote_ident(coalesce(current_schema(), 'public')) as schema,
       quote_ident(current_database()) as database
     where not coalesce(has_schema_privilege(current_schema(), 'create'), false)`,
  )
  if (missing === undefined) return undefined
  const { login, schema, database } = missing
  return new CannotStart(
    `Postgres: the login ${login} may not make tables in the schema ${schema}; as its owner: ` +
      `grant usage, create on schema ${schema} to ${login}; or, to keep Sluice in a schema of its own, as the owner of the database: ` +
      `create schema sluice authorization ${login}; alter database ${database} set search_path = sluice;`,
  )
}

/**
 * Throws CannotStart if a new installation would share its roles with another database of the server and one
 * owner, who is no superuser, could read the other's rows through them. Databases of one owner may share.
 */
export async function requireOwnRoles(address: PostgresAddress, rolePrefix: string): Promise<void> {
  const { operator } = databaseRoles(rolePrefix)
  const [shared] = await ask<{ database: string; login: string }>(address, sharedRole, [operator])
  if (shared === undefined) return
  throw new CannotStart(
    `Postgres: the role ${operator} is that of the installation in the database ${shared.database} too, and by it the login ` +
      `${shared.login} could read both: set DATABASE_ROLE_PREFIX to a prefix of this installation's own`,
  )
}

const sharedRole = `
  with role as (select oid from pg_roles where rolname = $1),
    own as (select oid, datdba from pg_database where datname = current_database()),
    others as (
      select distinct d.oid, d.datname, d.datdba from role join pg_shdepend on refobjid = role.oid and refclassid = 'pg_authid'::regclass
        join pg_database d on d.oid = dbid, own where d.oid <> own.oid and d.datdba <> own.datdba
    )
  select others.datname as database, login.rolname as login
  from others, own, role, pg_roles login
  where login.oid in (own.datdba, others.datdba) and not login.rolsuper and pg_has_role(login.oid, role.oid, 'SET')
    and has_database_privilege(login.oid, own.oid, 'CONNECT') and has_database_privilege(login.oid, others.oid, 'CONNECT')
  order by 1, 2 limit 1`

async function ask<R extends object>(
  address: PostgresAddress,
  statement: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = new Client(connectionOf(address))
  await client.connect()
  try {
    return (await client.query<R>(statement, [...values])).rows
  } finally {
    await client.end()
  }
}

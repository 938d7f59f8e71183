import { spawnSync } from 'node:child_process'
import { chownSync, copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'

/**
 * A base backup of a running Postgres, as pg_basebackup makes one: data files, the log up to the end of the
 * backup, and the backup label. `directory` is the one that startPostgres used.
 */
export async function backUpPostgres(url: string, directory: string, backup: string): Promise<void> {
  mkdirSync(backup)
  copyFileSync(join(directory, 'password'), join(backup, 'password'))
  const pack = (name: string, ...what: string[]) =>
    tar('-cf', join(backup, name), '-C', join(directory, 'cluster'), ...what)
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query("select pg_backup_start('a test', true)")
    pack('files.tar', '--exclude=./pg_wal/*', '--exclude=./postmaster.*', '.')
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    pack('log.tar', './pg_wal')
    writeFileSync(join(backup, 'backup_label'), rows[0]?.labelfile ?? '')
  } finally {
    await client.end()
  }
}

/** Replaces `directory` by the backup, for startPostgres. */
export function restorePostgres(backup: string, directory: string): void {
  const cluster = join(directory, 'cluster')
  mkdirSync(cluster, { recursive: true })
  copyFileSync(join(backup, 'password'), join(directory, 'password'))
  for (const name of ['files.tar', 'log.tar']) tar('-xpf', join(backup, name), '-C', cluster)
  const label = join(cluster, 'backup_label')
  copyFileSync(join(backup, 'backup_label'), label)
  const { uid, gid } = statSync(join(cluster, 'PG_VERSION'))
  chownSync(label, uid, gid)
}

function tar(...args: string[]): void {
  const { status, stderr } = spawnSync('tar', args, { encoding: 'utf8' })
  // Status 1: a file changed while it was read. Postgres repairs it from its log.
  if (status !== 0 && status !== 1) throw new Error(`tar ${args.join(' ')} ended with ${status}: ${stderr}`)
}

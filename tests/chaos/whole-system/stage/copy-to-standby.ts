import { execFileSync } from 'node:child_process'
import { appendFile, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'

/** Copies a running server's data to where a standby of it will start: the package that it comes from has no pg_basebackup. */
export async function copyToStandby(address: string, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  try {
    // What it writes during the copy, and until the standby asks for it.
    await client.query(`alter system set wal_keep_size = '512MB'`)
    await client.query('select pg_reload_conf()')
    await client.query(`select pg_backup_start('standby', true)`)
    await mkdir(to, { recursive: true })
    await copyFile(join(from, 'password'), join(to, 'password'))
    const cluster = join(to, 'cluster')
    // With its owner, which is not this process.
    execFileSync('cp', ['-a', join(from, 'cluster'), cluster])
    await rm(join(cluster, 'postmaster.pid'))
    const { rows } = await client.query<{ label: string }>(
      'select labelfile as label from pg_backup_stop(false)',
    )
    await writeFile(join(cluster, 'backup_label'), rows[0]?.label ?? '')
    await writeFile(join(cluster, 'standby.signal'), '')
    const { hostname, port, username, password } = new URL(address)
    const primary = `host=${hostname} port=${port} user=${username} password=${password}`
    const settings = `primary_conninfo = '${primary}'\nwal_retrieve_retry_interval = '1s'\n`
    await appendFile(join(cluster, 'postgresql.auto.conf'), settings)
    // What was written here is this user's; where that is root the server runs as another.
    const written = ['backup_label', 'standby.signal'].map((name) => join(cluster, name))
    execFileSync('chown', [`--reference=${join(cluster, 'PG_VERSION')}`, ...written])
  } finally {
    await client.end()
  }
}

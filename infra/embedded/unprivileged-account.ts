import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { CannotStart } from './embedded-part.ts'
import type { ProcessPlan } from './guarded-process.ts'

export interface Account {
  uid: number
  gid: number
}

/**
 * Postgres refuses to run as root. For root, the account to run it as (`postgres`, else `nobody`); otherwise
 * undefined.
 */
export async function unprivilegedAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const [, , uid, gid] =
    ['postgres', 'nobody'].map((name) => lines.find((line) => line[0] === name)).find(Boolean) ?? []
  if (uid === undefined || gid === undefined) {
    throw new CannotStart(
      'Postgres does not run as root and there is no user postgres or nobody: run this as another user.',
    )
  }
  return { uid: Number(uid), gid: Number(gid) }
}

/**
 * The same process under another account. If that account cannot reach the program or its `directories` (a
 * checkout under /root, or a directory of mktemp), it keeps only the capability to pass.
 */
export function asUnprivileged(plan: ProcessPlan, account: Account, directories: string[]): ProcessPlan {
  if (canReach(account, plan.command, directories)) return { ...plan, account, cwd: '/' }
  // Without the secure bit, access(2), by which Postgres looks for its programs, would check the account
  // alone.
  const capability = [
    '--securebits=+no_setuid_fixup',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ]
  const identity = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', ...capability]
  const tried = spawnSync('setpriv', [...identity, plan.command, '--version'], { stdio: 'ignore', cwd: '/' })
  if (tried.status === 0)
    return { ...plan, command: 'setpriv', args: [...identity, plan.command, ...plan.args], cwd: '/' }
  throw new CannotStart(
    `Postgres does not run as root, and user ${account.uid} cannot reach ${plan.command} and ${directories.join(', ')}: move the checkout and the state directory to where other users may pass, or run this as another user.`,
  )
}

function canReach(account: Account, program: string, directories: string[]): boolean {
  const script = 'test -x "$1" && test -r "$1" || exit 1; shift; for d; do cd "$d" || exit 1; done'
  return (
    spawnSync('/bin/sh', ['-c', script, 'sh', program, ...directories], {
      ...account,
      cwd: '/',
      stdio: 'ignore',
    }).status === 0
  )
}

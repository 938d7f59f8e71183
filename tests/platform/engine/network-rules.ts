import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { runProgram } from './run-program.ts'

/** Rules of the host's tables that an engine adds to. */
export interface Rules {
  forwardPolicy: string
  lines: ReadonlySet<string>
  hasBridge: boolean
}

const bridge = '/sys/class/net/docker0'
const tables = ['nat', 'filter']

export async function snapshotRules(env: NodeJS.ProcessEnv): Promise<Rules> {
  const lines = await savedLines(env)
  const policy = lines.map(({ line }) => /^:FORWARD (\w+)/.exec(line)?.[1]).find(Boolean)
  return {
    forwardPolicy: policy ?? 'ACCEPT',
    lines: new Set(lines.map(keyOf)),
    hasBridge: existsSync(bridge),
  }
}

/** Removes rules, chains and the bridge that a stopped engine leaves behind, unless they existed before. */
export async function removeRules(env: NodeJS.ProcessEnv, before: Rules): Promise<void> {
  const added = (await savedLines(env)).filter((one) => !before.lines.has(keyOf(one)))
  const isOfEngine = ({ line }: Saved) => /\b(DOCKER|docker0|br-)/.test(line)
  const iptables = (table: string, args: readonly string[]) =>
    runProgram('iptables', ['-t', table, ...args], { env })
  for (const { table, line } of added.filter((one) => one.line.startsWith('-A ') && isOfEngine(one)))
    await iptables(table, ['-D', ...line.slice(3).split(' ')])
  for (const { table, line } of added.filter((one) => one.line.startsWith(':') && isOfEngine(one)))
    await iptables(table, ['-X', line.slice(1).split(' ')[0] ?? ''])
  await iptables('filter', ['-P', 'FORWARD', before.forwardPolicy])
  if (!before.hasBridge && existsSync(bridge))
    await runProgram('ip', ['link', 'delete', basename(bridge)], { env })
}

interface Saved {
  table: string
  line: string
}

async function savedLines(env: NodeJS.ProcessEnv): Promise<Saved[]> {
  const found: Saved[] = []
  for (const table of tables) {
    const text = await runProgram('iptables-save', ['-t', table], { env })
    found.push(...text.split('\n').map((line) => ({ table, line })))
  }
  return found
}

/** Without the counters of a chain. */
function keyOf({ table, line }: Saved): string {
  return `${table} ${line.replace(/ \[\d+:\d+\]$/, '')}`
}

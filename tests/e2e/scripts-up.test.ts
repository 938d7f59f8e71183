import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { assertPortsFree, planPorts, type PortName } from '#scripts/stack/plan-ports.ts'
import type { Connection } from '#scripts/stack/connection.ts'
import { readRecord, type StackRecord } from '#scripts/stack/stack-record.ts'
import { refusedExamples, sendExamples, type ExampleAnswer } from '../support/documented-examples.ts'
import { until } from '../support/until.ts'

const UP = join(import.meta.dirname, '..', '..', 'scripts', 'up')
const DOCTOR = join(import.meta.dirname, '..', '..', 'scripts', 'doctor')
const DEADLINE_MS = 600_000
const run = promisify(execFile)

let state: string
let offset: string

beforeAll(async () => {
  state = join(await mkdtemp(join(tmpdir(), 'sluice-up-')), 'state')
  offset = String(await freeOffset())
})

afterAll(async () => {
  await up('--stop')
  await rm(join(state, '..'), { recursive: true, force: true })
}, DEADLINE_MS)

interface Output {
  code: number
  stdout: string
  stderr: string
}

// Variables of the test runner or a user's shell that this stack must not inherit.
const WITHHELD = [
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  'DATABASE_URL',
  'UPSTREAM_URL',
  'NODE_OPTIONS',
  'NODE_ENV',
]

const surroundings = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !WITHHELD.includes(name)))

/** Runs scripts/up like a user. */
async function up(...args: string[]): Promise<Output> {
  try {
    return { code: 0, ...(await run(UP, ['--state', state, ...args], { env: surroundings() })) }
  } catch (error) {
    const { code, stdout, stderr } = error as Output
    return { code, stdout, stderr }
  }
}

/** Problems that scripts/doctor finds in the stack; without the disk, which is not the stack's. */
async function doctor(): Promise<string[]> {
  const { stdout } = await run(DOCTOR, ['--state', state, '--json'], { env: surroundings() }).catch(
    (error: unknown) => error as Output,
  )
  const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; what: string }[] }
  expect(findings.filter(({ check }) => check === 'services')).toHaveLength(7)
  return findings
    .filter((finding) => finding.state === 'problem' && finding.check !== 'disk')
    .map(({ check, what }) => `${check}: ${what}`)
}

const detach = () => up('--detach', '--port-offset', offset)

async function connection(): Promise<Connection> {
  return JSON.parse(await readFile(join(state, 'connection.json'), 'utf8')) as Connection
}

async function record(): Promise<StackRecord> {
  const found = await readRecord(join(state, 'processes.json'))
  if (!found) throw new Error('there is no record of a running stack')
  return found
}

/** The curl commands of the summary, as printed. */
function printedCurls(stdout: string): string[] {
  return stdout.match(/curl (?:.*\\\n)*.*/g) ?? []
}

async function shell(command: string): Promise<unknown> {
  return JSON.parse((await run('bash', ['-c', command.replace('curl ', 'curl -sS ')])).stdout) as unknown
}

/** No payment provider is configured; the rest is refused everywhere. */
const refused: Record<string, number> = {
  ...refusedExamples,
  // The example's project does not exist.
  'post /api/redteam-runs': 404,
  'post /api/billing/checkout': 503,
  'post /api/billing/portal': 503,
  'post /webhook/payment': 503,
}

/** Every example of /docs, as printed: it succeeds, or is refused as documented. */
async function expectExamplesToRun(requestId: string): Promise<void> {
  const answers = await sendExamples(await connection(), requestId)
  const isAsDocumented = ({ name, status, isDocumented, isReal }: ExampleAnswer) => {
    if (!isReal) return isDocumented && [404, 422].includes(status)
    return isDocumented && (refused[name] === undefined ? status < 300 : status === refused[name])
  }
  expect(answers.filter((answer) => !isAsDocumented(answer))).toEqual([])
  expect(answers.filter(({ status }) => status < 300).length).toBeGreaterThan(40)
}

test(
  'everything starts, the printed commands work, a dead part is restarted, nothing is left after --stop, and data stays',
  async () => {
    const first = await detach()
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toContain('Sluice is up.')
    expect((await stat(join(state, 'connection.json'))).mode & 0o777).toBe(0o600)
    // Each part has two seconds to answer, and may take longer on a busy machine.
    await until(
      async () => (await up('--status')).code === 0,
      180_000,
      async () => (await up('--status')).stdout,
    )

    const [call, list] = printedCurls(first.stdout) as [string, string]
    expect(await shell(call)).toMatchObject({ object: 'chat.completion' })
    await expectApplicationsToCall()
    const recorded = async () =>
      (await shell(list)) as { data: { id: string; score_count: number }[]; total: number }
    await until(async () => ((await recorded()).data[0]?.score_count ?? 0) > 0)

    // Partitions and consumer groups appear a moment after the processes.
    await until(
      async () => (await doctor()).length === 0,
      180_000,
      async () => (await doctor()).join('\n'),
    )

    // A second start does nothing and prints where the stack is.
    for (const second of [await detach(), await up()]) {
      expect(second).toMatchObject({ code: 0, stderr: '' })
      expect(second.stdout).toContain('already runs')
      expect(second.stdout).toContain((await connection()).proxy_url)
    }

    await killAndAwaitRestart('sink')
    expect(await readFile(join(state, 'logs', 'supervisor.log'), 'utf8')).toContain('sink ended (SIGKILL)')

    // Calls of the applications may still be in progress.
    await until(async () => (await recorded()).data.every(({ score_count }) => score_count > 0))
    const before = await recorded()
    const pids = await runningPids()
    expect((await up('--stop')).code).toBe(0)
    expect(pids.filter(groupExists)).toEqual([])
    expect((await up('--status')).code).toBe(1)

    expect((await detach()).code).toBe(0)
    expect(await recorded()).toEqual(before)
    await expectExamplesToRun(before.data[0]?.id as string)
  },
  DEADLINE_MS,
)

test(
  'a supervisor that is killed takes everything with it',
  async () => {
    const pids = await runningPids()
    process.kill((await record()).supervisor.pid, 'SIGKILL')
    await until(() => !pids.some(groupExists))
    expect((await up('--status')).stdout).toContain('does not run')
  },
  DEADLINE_MS,
)

/** What docs/applications.md tells applications to do, as printed. */
async function expectApplicationsToCall(): Promise<void> {
  const root = join(UP, '..', '..')
  const page = await readFile(join(root, 'docs', 'applications.md'), 'utf8')
  const examples = (language: string) =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code]) => code as string)
  const { base_url, proxy_url, proxy_api_key, api_key } = await connection()
  const options = {
    cwd: root,
    env: { ...surroundings(), GATEWAY_URL: proxy_url, PROXY_API_KEY: proxy_api_key },
  }
  for (const command of examples('sh')) await run('bash', ['-c', command], options)
  for (const program of examples('js'))
    await run(process.execPath, ['--input-type=module', '-e', program], options)

  const recordsOf = async (session: string) => {
    let items: unknown[] = []
    await until(async () => {
      const headers = { 'X-Service-Key': api_key }
      const answer = await fetch(`${base_url}/api/requests?session_id=${session}`, { headers })
      ;({ items } = (await answer.json()) as { items: unknown[] })
      return items.length > 0
    })
    return items
  }
  expect(await recordsOf('ticket-4711')).toMatchObject([{ agent_name: 'support-bot', status_code: 200 }])
  expect(await recordsOf('ticket-4712')).toMatchObject([
    { agent_name: 'support-bot', agent_tag: 'v2', metadata: { team: 'support' }, status_code: 200 },
  ])
}

async function killAndAwaitRestart(name: string): Promise<void> {
  const find = async () => (await record()).processes.find((one) => one.name === name)
  const before = await find()
  process.kill(before?.pid as number, 'SIGKILL')
  await until(async () => {
    const now = await find()
    return now?.state === 'up' && now.restarts > (before?.restarts ?? 0)
  })
}

async function runningPids(): Promise<number[]> {
  const { processes, supervisor } = await record()
  return [supervisor.pid, ...processes.map(({ pid }) => pid as number)]
}

function groupExists(pid: number): boolean {
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}

async function freeOffset(): Promise<number> {
  for (;;) {
    // With it all ports are above those of freePorts and below 32768, where the kernel's ephemeral ports
    // begin.
    const candidate = randomInt(23_000, 23_675)
    const ports = planPorts(candidate)
    const free = await assertPortsFree(ports, Object.keys(ports) as PortName[]).then(
      () => true,
      () => false,
    )
    if (free) return candidate
  }
}

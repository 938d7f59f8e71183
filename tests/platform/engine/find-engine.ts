import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { startGuarded, type GuardedProcess } from '#infra/embedded/guarded-process.ts'
import { lastLines } from '#infra/embedded/await-ready.ts'
import type { Say } from '#infra/embedded/embedded-part.ts'
import type { Undo } from '../../support/undo.ts'
import { until } from '../../support/until.ts'
import { CannotRun } from '../platform-part.ts'
import { createEngine, type Engine } from './engine.ts'
import { removeRules, snapshotRules, type Rules } from './network-rules.ts'
import { runProgram } from './run-program.ts'
import { unpackPackages } from './unpack-packages.ts'

const packages = ['docker.io', 'containerd', 'runc', 'iptables', 'iproute2']
/** Containers then have only the host's network. */
const withoutNetworks = ['--iptables=false', '--ip6tables=false', '--bridge=none']
const forwarding = '/proc/sys/net/ipv4/ip_forward'

/**
 * The Docker engine that answers here, else Debian's, started on its own socket. Throws {@link CannotRun}.
 */
export async function findEngine(cache: string, undo: Undo, say: Say): Promise<Engine> {
  const running = createEngine(process.env, { isOwn: false, hasNetworks: true })
  const version = await running.docker(['version', '--format', '{{.Server.Version}}']).catch(() => undefined)
  if (version !== undefined) {
    say(`the Docker engine that runs here, ${version.trim()}`)
    return running
  }
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new CannotRun('no Docker engine answers, and only root on Linux can start one')
  const environment = await fetchEngine(cache)
  const directory = await mkdtemp(join(tmpdir(), 'sluice-engine-'))
  undo.push(async () => {
    await unmountBelow(directory)
    await rm(directory, { recursive: true, force: true })
  })
  // Fails on a kernel without these tables: then there are no rules to remove, and no networks.
  const rules = await snapshotRules(environment).catch(() => undefined)
  const start = { cache, directory, environment, undo, say }
  return (
    (rules && (await startEngine(start, rules))) ?? (await startEngine(start, undefined)) ?? fail(directory)
  )
}

/** The environment with its programs on PATH. */
async function fetchEngine(cache: string): Promise<NodeJS.ProcessEnv> {
  const root = await unpackPackages(cache, packages)
  const names = join(root, 'names')
  await mkdir(names, { recursive: true })
  const directories = [names, join(root, 'usr', 'sbin'), join(root, 'usr', 'bin')]
  const libraries = join(root, 'usr', 'lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
  const environment = {
    ...process.env,
    PATH: [...directories, process.env['PATH'] ?? ''].join(delimiter),
    LD_LIBRARY_PATH: [libraries, libraries.replace('/usr', '')].join(delimiter),
    XTABLES_LIBDIR: join(libraries, 'xtables'),
  }
  // Debian's alternatives, which an unpacked package lacks. The kernel may support only one of the two.
  const list = ['-t', 'nat', '-L', '-n']
  const isNew = await runProgram('xtables-nft-multi', ['iptables', ...list], { env: environment }).then(
    () => true,
    () => false,
  )
  const program = join(root, 'usr', 'sbin', isNew ? 'xtables-nft-multi' : 'xtables-legacy-multi')
  for (const name of ['iptables', 'ip6tables', 'iptables-save', 'ip6tables-save']) {
    await rm(join(names, name), { force: true })
    await symlink(program, join(names, name))
  }
  return environment
}

interface EngineStart {
  cache: string
  directory: string
  environment: NodeJS.ProcessEnv
  undo: Undo
  say: Say
}

/** With networks if the host's rules can be restored. Undefined if it exits instead of answering. */
async function startEngine(
  { cache, directory, environment, undo, say }: EngineStart,
  rules: Rules | undefined,
): Promise<Engine | undefined> {
  const address = `unix://${join(directory, 'docker.sock')}`
  const logFile = join(directory, 'dockerd.log')
  const hasNetworks = rules !== undefined
  const flags = hasNetworks ? [] : withoutNetworks
  const wasForwarding = await readFile(forwarding, 'utf8')
  const places = ['--data-root', join(cache, 'engine'), '--exec-root', join(directory, 'run')]
  const args = [...places, '--pidfile', join(cache, 'dockerd.pid'), '-H', address, ...flags]
  const dockerd = await startGuarded({
    command: 'dockerd',
    args,
    env: environment,
    logFile,
    stopDeadlineMs: 60_000,
  })
  undo.push(async () => {
    await dockerd.stop()
    if (rules !== undefined) await removeRules(environment, rules)
    await writeFile(forwarding, wasForwarding)
  })
  const engine = createEngine({ ...environment, DOCKER_HOST: address }, { isOwn: true, hasNetworks })
  if (!(await answers(engine, dockerd))) {
    say(`the engine ended:\n${(await lastLines(logFile, 3)).join('\n')}`)
    return undefined
  }
  const [version = ''] = (await engine.docker(['version', '--format', '{{.Server.Version}}'])).split('\n')
  say(`a Docker engine of its own, ${version}${hasNetworks ? '' : ', without networks'}`)
  return engine
}

/** A stopped engine leaves the namespace of the host's network mounted. */
async function unmountBelow(directory: string): Promise<void> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '')
  for (const mount of mounts.filter((path) => path.startsWith(`${directory}/`)).toReversed())
    await runProgram('umount', [mount])
}

async function answers(engine: Engine, { exited }: GuardedProcess): Promise<boolean> {
  let isGone = false
  void exited.then(() => (isGone = true))
  await until(
    async () =>
      isGone ||
      (await engine.docker(['version']).then(
        () => true,
        () => false,
      )),
  )
  return !isGone
}

async function fail(directory: string): Promise<never> {
  const lines = await lastLines(join(directory, 'dockerd.log'), 5)
  throw new CannotRun(`Debian's Docker engine does not start: ${lines.join('\n')}`)
}

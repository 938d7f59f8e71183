import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Undo } from '../../support/undo.ts'
import { until } from '../../support/until.ts'
import type { Engine } from '../engine/engine.ts'
import type { ContainerPlan } from './plan-containers.ts'

const composeFile = join(import.meta.dirname, '..', '..', '..', 'docker-compose.kafka.yml')
const stopWithinSeconds = 30

export interface Containers {
  /** Resolves when it is ready. */
  start(plan: ContainerPlan): Promise<void>
  /** Sends SIGTERM. Rejects if the container had to be killed or its exit code is not 0. */
  stop(name: string): Promise<void>
  /** Runs a process to its end. */
  runOnce(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<string>
  /** Runs a command of scripts/, like `docker compose exec`. */
  runCommand(
    name: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<string>
}

/** Containers of the image with the limits of docker-compose.kafka.yml, on the host's network. */
export async function createContainers(engine: Engine, image: string, undo: Undo): Promise<Containers> {
  const limits = await limitsOf(composeFile)
  const prefix = `sluice-platform-${process.pid}`
  const idOf = (name: string) => `${prefix}-${name}`
  const options = (environment: Readonly<Record<string, string>>) => [
    ...['--network', 'host', '--user', '1000:1000'],
    ...limits,
    ...Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  ]
  const logsOf = async (name: string) =>
    (await engine.docker(['logs', '--tail', '20', idOf(name)])).slice(-1500)
  const stateOf = async (name: string) =>
    (
      await engine.docker([
        'inspect',
        '--format',
        '{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}}',
        idOf(name),
      ])
    ).trim()
  const run = (
    more: readonly string[],
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ) => engine.docker(['run', '--rm', ...options(environment), ...more, image, ...args])
  return {
    async start({ name, args, readyUrl, environment, writes }) {
      const volume = writes === undefined ? [] : ['--volume', writes]
      await engine.docker([
        'run',
        '-d',
        '--name',
        idOf(name),
        ...options(environment),
        ...volume,
        image,
        ...args,
      ])
      undo.push(() => engine.docker(['rm', '--force', '--volumes', idOf(name)]))
      await until(
        async () => {
          if (!(await stateOf(name)).startsWith('running')) throw new Error(`it ended: ${await logsOf(name)}`)
          return isReady(readyUrl)
        },
        180_000,
        () => logsOf(name),
      )
    },
    async stop(name) {
      await engine.docker(['stop', '--time', String(stopWithinSeconds), idOf(name)])
      const state = await stateOf(name)
      if (state !== 'exited 0 false') throw new Error(`${state}: ${await logsOf(name)}`)
    },
    runOnce: (args, environment) => run([], args, environment),
    runCommand: (name, args, environment) => run(['--entrypoint', `scripts/${name}`], args, environment),
  }
}

const serviceSchema = z.object({
  read_only: z.literal(true),
  tmpfs: z.array(z.string()),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
  mem_limit: z.string(),
})

/** Options of `docker run` for what every service of Compose has. */
async function limitsOf(file: string): Promise<string[]> {
  const compose = parse(await readFile(file, 'utf8'), { merge: true }) as { 'x-service': unknown }
  const limits = serviceSchema.parse(compose['x-service'])
  return [
    '--read-only',
    ...limits.tmpfs.flatMap((path) => ['--tmpfs', path]),
    ...limits.cap_drop.flatMap((name) => ['--cap-drop', name]),
    ...limits.security_opt.flatMap((option) => ['--security-opt', option]),
    ...['--memory', limits.mem_limit],
  ]
}

function isReady(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(5000) }).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.ok
    },
    // Not listening yet.
    () => false,
  )
}

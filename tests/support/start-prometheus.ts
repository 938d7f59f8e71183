import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { freePorts } from '#infra/embedded/free-port.ts'
import { startGuarded } from '#infra/embedded/guarded-process.ts'
import { prometheusTool } from './prometheus-tools.ts'
import { until } from './until.ts'

const source = join(import.meta.dirname, '..', '..', 'infra', 'prometheus')

interface Sample {
  metric: Readonly<Record<string, string>>
  value: [number, string]
}

/** A real Prometheus with the project's configuration and rules, except for targets and intervals. */
export interface Prometheus {
  /** An instant query; throws if Prometheus refuses it. */
  query(expr: string): Promise<readonly Sample[]>
  /** Any other endpoint below /api/v1/. */
  get<T>(path: string): Promise<T>
  stop(): Promise<void>
}

interface Configuration {
  global: Record<string, string>
  scrape_configs: { static_configs: { targets: string[]; labels: { service: string } }[] }[]
}

/** `ports`: each service's operations port. */
export async function startPrometheus(ports: Readonly<Record<string, number>>): Promise<Prometheus> {
  const command = await prometheusTool('prometheus')
  const directory = await mkdtemp(join(tmpdir(), 'sluice-prometheus-'))
  await cp(source, directory, { recursive: true })
  const file = join(directory, 'prometheus.yml')
  await writeFile(file, stringify(withTargets(parse(await readFile(file, 'utf8')) as Configuration, ports)))
  const [port] = (await freePorts(1)) as [number]
  const address = `127.0.0.1:${port}`
  const child = await startGuarded({
    command,
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
    env: { PATH: process.env['PATH'] },
    logFile: join(directory, 'prometheus.log'),
    stopDeadlineMs: 10_000,
  })
  const get = async <T>(path: string) => {
    const answer = (await (await fetch(`http://${address}/api/v1/${path}`)).json()) as {
      status: string
      error?: string
      data: T
    }
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error ?? answer.status}`)
    return answer.data
  }
  await until(
    () => isReady(address),
    30_000,
    () => readFile(join(directory, 'prometheus.log'), 'utf8'),
  )
  return {
    get,
    query: async (expr) =>
      (await get<{ result: Sample[] }>(`query?query=${encodeURIComponent(expr)}`)).result,
    async stop() {
      await child.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function withTargets(configuration: Configuration, ports: Readonly<Record<string, number>>): Configuration {
  const [job] = configuration.scrape_configs
  return {
    ...configuration,
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    scrape_configs: [
      {
        ...job,
        static_configs: Object.entries(ports).map(([service, port]) => ({
          targets: [`127.0.0.1:${port}`],
          labels: { service },
        })),
      },
    ],
  }
}

function isReady(address: string): Promise<boolean> {
  return fetch(`http://${address}/-/ready`).then(
    ({ ok }) => ok,
    // Not listening yet.
    () => false,
  )
}

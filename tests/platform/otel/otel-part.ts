import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { topics } from '#schemas/topics.ts'
import { startApi, type RunningApi } from '../../support/start-api.ts'
import { until } from '../../support/until.ts'
import { runProgram } from '../engine/run-program.ts'
import type { PlatformContext, PlatformPart } from '../platform-part.ts'
import { installPython } from '../python/python-venv.ts'
import { startInfrastructure } from '../start-infrastructure.ts'
import { countTraced } from './count-traced.ts'
import { exporterOf } from './exporter-of.ts'
import { installJavascript } from './install-javascript.ts'
import { instrumentations, type Traced } from './instrumentations.ts'
import { buildCollector, startCollector } from './start-collector.ts'
import { startProvider } from './start-provider.ts'

const pythonProgram = join(import.meta.dirname, 'traced_calls.py')
const javascriptProgram = join(import.meta.dirname, 'javascript', 'traced-calls.js')
const requirements = join(import.meta.dirname, 'requirements.txt')

export const otelPart: PlatformPart = {
  about: 'real OpenTelemetry instrumentations of Python and JavaScript send calls to a real API',
  async run(context) {
    const { cache, report, say, undo } = context
    const python = await report.need('Python has the packages', () => installPython(cache, requirements, say))
    const program = await report.need('Node has the packages', () =>
      installJavascript(cache, say, javascriptProgram),
    )
    const commands = { python: [python, pythonProgram], javascript: [process.execPath, program] }
    const directory = await mkdtemp(join(tmpdir(), 'sluice-otel-'))
    undo.push(() => rm(directory, { recursive: true, force: true }))
    const api = await report.need('Kafka, the registry, Postgres and the API start', async () => {
      await startInfrastructure(context, directory)
      return startApi()
    })
    undo.push(() => api.stop())
    for (const [name, traced] of Object.entries<Traced>(instrumentations))
      await report.check(`calls traced by ${name} are recorded as they were, each once`, () =>
        checkCalls({ context, api, command: [...commands[traced.program], name], traced }),
      )
    const collector = await report.need('Go builds a Collector', () => buildCollector(cache, say))
    for (const { compression, protocol, name } of throughCollector)
      await report.check(`so are calls by ${protocol} through a Collector that sends ${compression}`, () => {
        const traced: Traced = instrumentations[name]
        const throughIt = { program: collector, directory, compression, protocol }
        return checkCalls({ context, api, command: [...commands[traced.program], name], traced, throughIt })
      })
  },
}

/** As docs/opentelemetry.md sets it up. */
const throughCollector = [
  { compression: 'gzip', protocol: 'http/protobuf', name: 'openinference' },
  { compression: 'zstd', protocol: 'grpc', name: 'vercel' },
] as const

interface Check {
  context: PlatformContext
  api: RunningApi
  command: readonly string[]
  traced: Traced
  throughIt?: { program: string; directory: string; compression: string; protocol: string }
}

async function checkCalls({ context, api, command, traced, throughIt }: Check): Promise<void> {
  const { projectId, key } = await api.createProject()
  const provider = await startProvider()
  context.undo.push(() => provider.stop())
  const collector =
    throughIt &&
    (await startCollector({ ...throughIt, environment: { SLUICE_URL: api.baseUrl, SLUICE_KEY: key } }))
  if (collector !== undefined) context.undo.push(() => collector.stop())
  const env = {
    ...process.env,
    ...exporterOf(api.baseUrl, key),
    ...(collector !== undefined && collector.exporter),
  }
  const [binary = '', ...given] = command
  await runProgram(binary, [...given, `${provider.url}/v1`], { env, timeoutMs: 120_000 })
  const recordsOf = async () =>
    (await api.readTopic(topics.requestLogged)).filter((record) => record.project_id === projectId)
  const { program: _, ...expected } = traced
  await until(async () => (await recordsOf()).length >= expected.models + expected.tools)
  const counts = countTraced(await recordsOf())
  if (!isDeepStrictEqual(counts, expected))
    throw new Error(`recorded are ${JSON.stringify(counts)}, expected ${JSON.stringify(expected)}`)
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fieldAt, listOf } from '#capture/json.ts'
import { createSealer } from '#runtime/sealing.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { topics } from '#schemas/topics.ts'
import { startMockProvider } from '../../support/mock-provider.ts'
import { startApi, type RunningApi } from '../../support/start-api.ts'
import { until } from '../../support/until.ts'
import { runProgram } from '../engine/run-program.ts'
import type { PlatformContext, PlatformPart } from '../platform-part.ts'
import { installPython } from '../python/python-venv.ts'
import { startInfrastructure } from '../start-infrastructure.ts'

const program = join(import.meta.dirname, 'traced_calls.py')
const requirements = join(import.meta.dirname, 'requirements.txt')
/** Whether the instrumentation puts words on its spans. Those of openai-v2 are log records. */
const instrumentations = {
  openinference: true,
  'openinference-langchain': true,
  traceloop: true,
  langfuse: true,
  'openai-v2': false,
} as const
type Instrumentation = keyof typeof instrumentations
const calls = 2
const asked = ['Be brief.', 'What is a sluice?']
const said = 'You said something of 17 characters.'

export const otelPart: PlatformPart = {
  about: 'real OpenTelemetry instrumentations of Python send calls to a real API',
  async run(context) {
    const { cache, report, say, undo } = context
    const python = await report.need('Python has the packages', () => installPython(cache, requirements, say))
    const directory = await mkdtemp(join(tmpdir(), 'sluice-otel-'))
    undo.push(() => rm(directory, { recursive: true, force: true }))
    const api = await report.need('Kafka, the registry, Postgres and the API start', async () => {
      await startInfrastructure(context, directory)
      return startApi()
    })
    undo.push(() => api.stop())
    for (const name of Object.keys(instrumentations) as Instrumentation[])
      await report.check(`${calls} calls traced by ${name} are recorded as they were`, () =>
        checkCalls({ context, api, python, name }),
      )
  },
}

interface Check {
  context: PlatformContext
  api: RunningApi
  python: string
  name: Instrumentation
}

async function checkCalls({ context, api, python, name }: Check): Promise<void> {
  const { projectId, key } = await api.createProject()
  const provider = await startMockProvider()
  context.undo.push(() => provider.stop())
  const env = { ...process.env, ...exporterOf(api.baseUrl, key) }
  await runProgram(python, [program, name, `${provider.url}/v1`], { env, timeoutMs: 120_000 })
  const recordsOf = async () =>
    (await api.readTopic(topics.requestLogged)).filter((record) => record.project_id === projectId)
  await until(async () => (await recordsOf()).length >= calls)
  const records = await recordsOf()
  const wrong = records.flatMap((record) => faultsOf(record, instrumentations[name]))
  if (records.length !== calls || wrong.length > 0)
    throw new Error(`${records.length} records; ${[...new Set(wrong)].join('; ')}`)
}

function exporterOf(baseUrl: string, key: string): NodeJS.ProcessEnv {
  return {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${baseUrl}/v1/traces`,
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: `x-service-key=${key}`,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    LANGFUSE_HOST: baseUrl,
    LANGFUSE_PUBLIC_KEY: 'anybody',
    LANGFUSE_SECRET_KEY: key,
  }
}

const sealer = createSealer([])

function faultsOf(record: LoggedCall, hasWords: boolean): string[] {
  const bodyOf = (part: 'request_body' | 'response_body'): unknown => {
    const sealed = record[part]
    const identity = sealedIdentity(record.project_id, record.id, part)
    return sealed === null ? null : JSON.parse(sealer.open(sealed, identity).toString())
  }
  const [request, response] = [bodyOf('request_body'), bodyOf('response_body')]
  const messages = listOf(fieldAt(request, 'messages')).map((message) => fieldAt(message, 'content'))
  const answer = listOf(fieldAt(response, 'choices')).map((choice) => fieldAt(choice, 'message', 'content'))
  const { source, model, prompt_tokens: prompt, completion_tokens: completion } = record
  const isMissing = (body: unknown) => fieldAt(body, 'truncated') === true
  const found = {
    source: source === 'otel',
    model: model === 'model-1',
    tokens: prompt === 12 && completion === 6,
    request: hasWords ? JSON.stringify(messages) === JSON.stringify(asked) : isMissing(request),
    answer: hasWords ? answer[0] === said : isMissing(response),
  }
  return Object.entries(found).flatMap(([what, isRight]) =>
    isRight ? [] : [`${what} of ${JSON.stringify({ source, model, prompt, completion, request, response })}`],
  )
}

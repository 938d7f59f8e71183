import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { topics } from '#schemas/topics.ts'
import { startApi } from '../../support/start-api.ts'
import { until } from '../../support/until.ts'
import type { PlatformContext, PlatformPart } from '../platform-part.ts'
import { startInfrastructure } from '../start-infrastructure.ts'
import { createPythonVenv, type PythonVenv } from './python-venv.ts'

/** How many calls the test of the real API makes. */
const calls = 20

export const pythonPart: PlatformPart = {
  about: 'the Python SDK with the providers’ own clients, its types and wheel, and records in a real API',
  async run(context) {
    const { cache, report, say, undo } = context
    const venv = await report.need('Python has the packages', () => createPythonVenv(cache, say))
    undo.push(() => rm(venv.directory, { recursive: true, force: true }))
    await report.check('its tests pass', async () => {
      say((await venv.run('pytest', ['-q', '-p', 'no:cacheprovider'])).trimEnd().split('\n').at(-1) ?? '')
    })
    await report.check('mypy accepts it, strictly', () => venv.run('mypy', ['--cache-dir', '/dev/null']))
    await report.check('pyright accepts it', () => venv.run('pyright', ['--pythonpath', venv.python]))
    await report.check('one command makes the wheel', () => makeWheel(venv))
    await checkRealApi(context, venv)
  },
}

async function makeWheel({ run, directory }: PythonVenv): Promise<void> {
  await run('pip', ['wheel', '--quiet', '--no-deps', '-w', 'dist', '.'])
  const wheels = await readdir(join(directory, 'dist'))
  if (wheels.length !== 1) throw new Error(`dist holds ${wheels.join(', ') || 'nothing'}`)
}

/** The calls of a Python program are on the topic of logged calls, each once. */
async function checkRealApi(context: PlatformContext, { run }: PythonVenv): Promise<void> {
  const { report, undo } = context
  const directory = await mkdtemp(join(tmpdir(), 'sluice-python-'))
  undo.push(() => rm(directory, { recursive: true, force: true }))
  const api = await report.need('Kafka, the registry, Postgres and the API start', async () => {
    await startInfrastructure(context, directory)
    return startApi()
  })
  undo.push(() => api.stop())
  await report.check(`${calls} calls of a Python program reach the API, each once`, async () => {
    const { projectId, key } = await api.createProject()
    const env = { SLUICE_TEST_API: api.baseUrl, SLUICE_TEST_KEY: key, SLUICE_TEST_CALLS: String(calls) }
    await run('pytest', ['-q', '-p', 'no:cacheprovider', 'tests/test_real_api.py'], env)
    await until(async () => (await api.readTopic(topics.requestLogged)).length >= calls)
    const logged = await api.readTopic(topics.requestLogged)
    const ids = new Set(logged.map(({ id }) => id))
    const isRight = logged.every((call) => call.source === 'sdk' && call.project_id === projectId)
    if (!isRight || logged.length !== calls || ids.size !== calls)
      throw new Error(`${logged.length} records with ${ids.size} identifiers: ${JSON.stringify(logged[0])}`)
  })
}

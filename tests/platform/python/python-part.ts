import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { topics } from '#schemas/topics.ts'
import { startApi } from '../../support/start-api.ts'
import { until } from '../../support/until.ts'
import { runProgram } from '../engine/run-program.ts'
import type { PlatformContext, PlatformPart } from '../platform-part.ts'
import { startInfrastructure } from '../start-infrastructure.ts'
import { createPythonVenv, type PythonVenv } from './python-venv.ts'

/** How many calls the test of the real API makes. */
const calls = 20
/** Minor versions of Python 3 that it is written for. */
const [oldest, newest] = [9, 14]

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
    for (const version of [oldest, newest])
      await report.check(`pyright accepts it for Python 3.${version}`, () =>
        venv.run('pyright', ['--pythonpath', venv.python, '--pythonversion', `3.${version}`]),
      )
    await checkSyntax(context, venv)
    await report.check('one command makes the wheel', () => makeWheel(venv))
    await checkRealApi(context, venv)
  },
}

/** Compiles it with each of the supported Pythons that this machine has. */
async function checkSyntax({ report }: PlatformContext, { directory }: PythonVenv): Promise<void> {
  for (let version = oldest; version <= newest; version += 1) {
    const python = `python3.${version}`
    const name = `${python} compiles it`
    const isThere = await runProgram(python, ['--version']).then(
      () => true,
      () => false,
    )
    if (!isThere) report.skip(name, 'this machine has none')
    else
      await report.check(name, () =>
        runProgram(python, ['-W', 'error', '-m', 'compileall', '-q', '-f', 'src'], {
          cwd: directory,
          env: { ...process.env, PYTHONPYCACHEPREFIX: join(directory, python) },
        }),
      )
  }
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

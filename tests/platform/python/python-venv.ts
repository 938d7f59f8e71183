import { access, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { messageOf } from '#runtime/errors.ts'
import type { Say } from '#infra/embedded/embedded-part.ts'
import { runProgram } from '../engine/run-program.ts'
import { CannotRun, root } from '../platform-part.ts'

const requirements = join(import.meta.dirname, 'requirements.txt')

/** Runs a module of the environment's Python in `directory`; resolves with its output. */
export interface PythonVenv {
  run: (module: string, args: readonly string[], env?: NodeJS.ProcessEnv) => Promise<string>
  /** The environment's interpreter. */
  python: string
  /** A copy of the SDK: builds and caches stay out of the repository. */
  directory: string
}

/** The interpreter of a virtual environment in the cache with these packages. Throws {@link CannotRun}. */
export async function installPython(cache: string, requirementsFile: string, say: Say): Promise<string> {
  const wanted = await readFile(requirementsFile, 'utf8')
  const place = join(cache, `python-${createHash('sha256').update(wanted).digest('hex').slice(0, 12)}`)
  const python = join(place, 'bin', 'python')
  const mark = join(place, 'complete')
  try {
    if (!(await isThere(mark))) {
      say('packages for Python are installed into the cache, which takes some minutes, once')
      await rm(place, { recursive: true, force: true })
      await runProgram('python3', ['-m', 'venv', place])
      await runProgram(python, ['-m', 'pip', 'install', '--quiet', '-r', requirementsFile], {
        timeoutMs: 1_800_000,
      })
      await writeFile(mark, '')
    }
  } catch (error) {
    throw new CannotRun(`Python 3 with its packages is needed (${messageOf(error)})`, { cause: error })
  }
  return python
}

/** An environment with the packages of requirements.txt, and a copy of the SDK. Throws {@link CannotRun}. */
export async function createPythonVenv(cache: string, say: Say): Promise<PythonVenv> {
  const python = await installPython(cache, requirements, say)
  const directory = join(cache, `python-sdk.${process.pid}`)
  await mkdir(directory, { recursive: true })
  const sources = join(root, 'sdk', 'python')
  for (const name of ['pyproject.toml', 'README.md', 'src', 'tests'])
    await cp(join(sources, name), join(directory, name), { recursive: true })
  // Its programs are run too.
  await cp(join(root, 'docs', 'applications.md'), join(directory, 'applications.md'))
  return {
    python,
    directory,
    run: (module, args, env = {}) =>
      runProgram(python, ['-m', module, ...args], {
        cwd: directory,
        env: { ...process.env, PYTHONPATH: join(directory, 'src'), PYTHONDONTWRITEBYTECODE: '1', ...env },
      }),
  }
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

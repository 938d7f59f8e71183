import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#runtime/errors.ts'
import { runProgram, type ProgramOptions } from '../engine/run-program.ts'
import { CannotRun, type PlatformContext } from '../platform-part.ts'

const module = 'github.com/docker/compose/v2@v2.40.3'

export type Compose = (args: readonly string[], options?: ProgramOptions) => Promise<string>

/**
 * Docker Compose as the client has it, else built from its Go module into the cache (once, 3 minutes on two
 * cores). Throws {@link CannotRun}.
 */
export async function findCompose(context: PlatformContext): Promise<Compose> {
  const { docker, environment } = await context.engine()
  const isPlugin = await docker(['compose', 'version']).then(
    () => true,
    () => false,
  )
  if (isPlugin) return (args, options) => docker(['compose', ...args], options)
  const program = await buildCompose(context)
  return (args, options) => runProgram(program, args, { env: environment, ...options })
}

async function buildCompose({ cache, say }: PlatformContext): Promise<string> {
  const program = join(cache, 'bin', 'docker-compose')
  const isThere = await access(program).then(
    () => true,
    () => false,
  )
  if (isThere) return program
  say(`building ${module}`)
  const env = { ...process.env, GOPATH: join(cache, 'go'), GOFLAGS: '-modcacherw' }
  try {
    await mkdir(join(cache, 'bin'), { recursive: true })
    const said = await runProgram('go', ['mod', 'download', '-json', module], { env, cwd: cache })
    const { Dir: source } = JSON.parse(said) as { Dir: string }
    const options = { env, cwd: source, timeoutMs: 1_800_000 }
    await runProgram('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', program, './cmd'], options)
  } catch (error) {
    throw new CannotRun(`Docker Compose can neither be found nor built with Go: ${messageOf(error)}`, {
      cause: error,
    })
  }
  return program
}

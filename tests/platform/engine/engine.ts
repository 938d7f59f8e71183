import { runProgram, type ProgramOptions } from './run-program.ts'

/** A Docker engine with its client. */
export interface Engine {
  /** The client's standard output. */
  docker: (args: readonly string[], options?: ProgramOptions) => Promise<string>
  /** For programs that use the engine: its address and client. */
  environment: NodeJS.ProcessEnv
  /** Started by us: nobody else uses its images. */
  isOwn: boolean
  /** Whether containers have their own networks, or only the host's. */
  hasNetworks: boolean
}

export function createEngine(
  environment: NodeJS.ProcessEnv,
  { isOwn, hasNetworks }: Pick<Engine, 'isOwn' | 'hasNetworks'>,
): Engine {
  // Debian's package of the engine has the classic builder and no BuildKit plugin.
  const env = isOwn ? { ...environment, DOCKER_BUILDKIT: '0' } : environment
  const docker = (args: readonly string[], options: ProgramOptions = {}) =>
    runProgram('docker', args, { env, ...options })
  return { docker, environment: env, isOwn, hasNetworks }
}

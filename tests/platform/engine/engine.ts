import { runProgram, type ProgramOptions } from './run-program.ts'

/** A Docker engine, and how its client is called. */
export interface Engine {
  /** The client's standard output. */
  docker: (args: readonly string[], options?: ProgramOptions) => Promise<string>
  /** With the engine's address and client; for programs that speak to it. */
  environment: NodeJS.ProcessEnv
  /** Started here: its images are nobody else's. */
  isOwn: boolean
  /** Whether containers have networks of their own, or the host's alone. */
  hasNetworks: boolean
}

export function createEngine(
  environment: NodeJS.ProcessEnv,
  { isOwn, hasNetworks }: Pick<Engine, 'isOwn' | 'hasNetworks'>,
): Engine {
  // An engine of Debian's package has the builder that is its own, and no plugin of another.
  const env = isOwn ? { ...environment, DOCKER_BUILDKIT: '0' } : environment
  const docker = (args: readonly string[], options: ProgramOptions = {}) =>
    runProgram('docker', args, { env, ...options })
  return { docker, environment: env, isOwn, hasNetworks }
}

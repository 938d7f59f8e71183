import { resolve } from 'node:path'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { parseOptions } from './read-options.ts'

export interface UpArguments {
  command: 'run' | 'detach' | 'stop' | 'status' | 'help' | 'supervise'
  /** Absolute. */
  stateDirectory: string
  portOffset: number
}

export const USAGE = `scripts/up [--detach | --stop | --status] [--state DIR] [--port-offset N]

  starts everything and stays until Ctrl-C; run it again to find all data as it was

  --detach           return once everything answers; a supervisor stays behind
  --stop             stop a running stack and wait until no process of it is left
  --status           each process with its pid, port, state and restarts; exit code 1 when not all are up
  --state DIR        where data, logs, keys and connection.json live (.sluice)
  --port-offset N    added to every port, so that two stacks (each with its own --state) run side by side

  Used from the environment instead of an embedded part: KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DATABASE_URL, UPSTREAM_URL.
  Everything else that is set there reaches the services too: OPENAI_API_KEY, SCORER_MODEL, LOG_LEVEL, and so on.
  SERVICE_API_KEY is the exception: the gateway always records with the key of the stack's own first project.
`

// The highest base port is 9093, and no port may exceed 65535.
const LARGEST_OFFSET = 65_535 - 9093

/** Throws {@link CannotStart} with one sentence for invalid arguments. */
export function parseArguments(args: string[], workingDirectory: string): UpArguments {
  const values = parse(args)
  const commands = (['detach', 'stop', 'status', 'help', 'supervise'] as const).filter((name) => values[name])
  if (commands.length > 1) throw new CannotStart(`--${commands.join(' and --')} exclude each other.`)
  const portOffset = Number(values['port-offset'] ?? 0)
  if (!Number.isInteger(portOffset) || portOffset < 0 || portOffset > LARGEST_OFFSET) {
    throw new CannotStart(`--port-offset takes a whole number from 0 to ${LARGEST_OFFSET}.`)
  }
  const stateDirectory = resolve(workingDirectory, values.state ?? '.sluice')
  return { command: commands[0] ?? 'run', stateDirectory, portOffset }
}

function parse(args: string[]) {
  const option = { type: 'boolean' } as const
  return parseOptions(USAGE, {
    args,
    options: {
      detach: option,
      stop: option,
      status: option,
      help: { ...option, short: 'h' },
      // The process that --detach leaves is this script again; not for users.
      supervise: option,
      state: { type: 'string' },
      'port-offset': { type: 'string' },
    },
  }).values
}

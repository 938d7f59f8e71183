import type { Clock } from '#runtime/clock.ts'
import { PermanentError } from '#runtime/errors.ts'
import { hostOf, refuseTarget } from '#runtime/outbound-address.ts'
import { makeRedteamMark, redteamMarkHeader } from '#schemas/redteam-mark.ts'
import { redteamCommandSchema, redteamMetadata } from '#schemas/redteam-run.ts'
import type { RedteamRun } from '../stores/run-store.ts'
import { createChatTarget } from './chat-target.ts'
import { createCommandTarget } from './command-target.ts'
import { createJsonPoster } from './post-json.ts'
import type { MakeMarks, Target } from './target.ts'
import { createTemplateTarget } from './template-target.ts'

export interface TargetOptions {
  allowedHosts: ReadonlySet<string>
  /** Keys by host. */
  keys: ReadonlyMap<string, string>
  /** JSON array. */
  command: string | undefined
  timeoutMs: number
  /** PATH for a command. */
  path: string | undefined
  /** Secret of the marks for gateways; undefined: no marks. */
  markSecret: string | undefined
  clock: Clock
}

/** The target of a run. Throws PermanentError when it may not be attacked, or is not configured here. */
export function openTarget(run: RedteamRun, options: TargetOptions): Target {
  const { target } = run
  if (target.kind === 'command') return openCommand(options)
  if (target.kind === 'recorded') throw new PermanentError('NO_TARGET', 'a recorded run has no target')
  const refusal = refuseTarget(target.url, options.allowedHosts)
  if (refusal !== undefined) throw new PermanentError('TARGET_REFUSED', `target.url: ${refusal}`)
  const key = options.keys.get(hostOf(new URL(target.url).hostname))
  const poster = createJsonPoster({ connections: run.options.concurrency, timeoutMs: options.timeoutMs })
  const marks = marksOf(run, options)
  return target.kind === 'chat'
    ? createChatTarget({ target, key, poster, marks })
    : createTemplateTarget({ target, key, poster, marks })
}

/** Marks for the target's logs and a gateway's records. Our gateways record nothing of a marked request. */
function marksOf(run: RedteamRun, { markSecret, clock }: TargetOptions): MakeMarks {
  return ({ session, said }, body) => ({
    'user-agent': 'sluice-redteam',
    'x-service-agent-name': encodeURIComponent(run.agentName),
    'x-service-session-id': run.id,
    'x-service-metadata': JSON.stringify({
      [redteamMetadata.run]: run.id,
      [redteamMetadata.attempt]: session,
      [redteamMetadata.turn]: (said.length + 1) / 2,
    }),
    ...(markSecret === undefined
      ? {}
      : { [redteamMarkHeader]: makeRedteamMark(markSecret, body, clock.now()) }),
  })
}

function openCommand({ command, timeoutMs, path }: TargetOptions): Target {
  try {
    const parsed = redteamCommandSchema.parse(JSON.parse(command ?? ''))
    return createCommandTarget({ command: parsed, timeoutMs, environment: { PATH: path ?? '/usr/bin:/bin' } })
  } catch (error) {
    throw new PermanentError(
      'NO_TARGET',
      'REDTEAM_TARGET_COMMAND is not a JSON array of a program and its arguments',
      {
        cause: error,
      },
    )
  }
}

import { messageOf } from '#runtime/errors.ts'
import { CannotRun, type PlatformContext } from '../platform-part.ts'

const pullDeadlineMs = 600_000

/**
 * Provides an image of that name: from its registry, else built by `makeStandIn`. An engine that is not ours
 * loses the stand-in's name at the end.
 */
export async function ensureImage(
  context: PlatformContext,
  name: string,
  makeStandIn: (name: string) => Promise<void>,
): Promise<void> {
  const { say, undo } = context
  const engine = await context.engine()
  const found = await labelOf(context, name)
  if (found === '') return
  const problem = await engine.docker(['pull', '--quiet', name], { timeoutMs: pullDeadlineMs }).then(
    () => undefined,
    (error: unknown) =>
      messageOf(error)
        .replace(/^.*daemon: /s, '')
        .trim(),
  )
  if (problem === undefined) return
  say(`${name} cannot be pulled (${problem}): using a stand-in`)
  try {
    if (found === undefined) await makeStandIn(name)
  } catch (error) {
    throw new CannotRun(`no stand-in for ${name} can be built: ${messageOf(error)}`, { cause: error })
  }
  if (!engine.isOwn) undo.push(() => engine.docker(['rmi', name]))
}

/** Undefined: no such image; empty: no stand-in. */
async function labelOf({ engine }: PlatformContext, name: string): Promise<string | undefined> {
  const format = '{{index .Config.Labels "sluice.stand-in"}}'
  const { docker } = await engine()
  return docker(['image', 'inspect', '--format', format, name]).then(
    (label) => label.trim(),
    () => undefined,
  )
}

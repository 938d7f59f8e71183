import { findGated } from '../gate/gated-pattern.ts'
import { wordStartsOf } from '../gate/word-starts.ts'
import type { Destructive } from './destructions.ts'
import { carriedOutText } from './executed-text.ts'
import type { Overreach } from './overreach.ts'
import { shellOverreach } from './shell-overreach.ts'
import { windowsOverreach } from './windows-overreach.ts'
import { findWrittenFiles } from './written-files.ts'

const maxHits = 20
const overreaches: readonly Overreach[] = [...shellOverreach, ...windowsOverreach]

/** Commands in a tool's arguments that take data out, stay, widen rights, blind protection or attack. */
export function findOverreach(text: string): Destructive[] {
  const command = carriedOutText(text)
  const starts = wordStartsOf(command)
  const inCommands = overreaches.flatMap(({ kind, value, pattern }) =>
    findGated(command, starts, pattern, maxHits)
      .map((match) => ({
        kind,
        value: typeof value === 'number' ? value : value(match[0]),
        start: match.index,
        end: match.index + match[0].trimEnd().length,
      }))
      .filter((found) => found.value > 0),
  )
  return [...inCommands, ...findWrittenFiles(command, starts)]
}

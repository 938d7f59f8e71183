import { parseArgs, type ParseArgsConfig } from 'node:util'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { messageOf } from '#runtime/errors.ts'

export interface Options<Text extends string, Flag extends string> {
  values: Partial<Record<Text | 'state', string> & Record<Flag | 'help', boolean>>
  positionals: string[]
}

/** A script's own options, `--state` and `--help`. Throws CannotStart with its usage on unknown ones. */
export function readOptions<Text extends string, Flag extends string = never>(
  usage: string,
  own: { texts: readonly Text[]; flags?: readonly Flag[] },
): Options<Text, Flag> {
  const texts = [...own.texts, 'state'].map((name) => [name, { type: 'string' }] as const)
  const flags = (own.flags ?? []).map((name) => [name, { type: 'boolean' }] as const)
  const help = { type: 'boolean', short: 'h' } as const
  const options = { ...Object.fromEntries<{ type: 'string' | 'boolean' }>([...texts, ...flags]), help }
  return parseOptions(usage, { allowPositionals: true, options }) as Options<Text, Flag>
}

/** A script's options. Throws CannotStart with its usage on unknown ones. */
export function parseOptions<T extends ParseArgsConfig>(usage: string, config: T) {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new CannotStart(`${messageOf(error)}\n\n${usage}`)
  }
}

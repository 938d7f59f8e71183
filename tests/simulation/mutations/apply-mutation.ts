import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Mutation } from './mutation.ts'
import { mutations } from './mutations.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/**
 * Mutates one of our files when it is loaded. Throws if there is no such mutation. Loading throws unless the
 * text to replace is in the file exactly once.
 */
export function applyMutation(name: string): void {
  const mutation = mutations[name]
  if (mutation === undefined) throw new Error(`no mutation ${name}`)
  const url = pathToFileURL(join(root, mutation.file)).href
  registerHooks({
    load(loaded, context, nextLoad) {
      const module = nextLoad(loaded, context)
      if (loaded !== url) return module
      const source = Buffer.from(module.source as Uint8Array).toString('utf8')
      return { ...module, source: mutate(source, name, mutation) }
    },
  })
}

/** The mutated text of the file. Throws unless the text to replace is in it exactly once. */
export function mutate(source: string, name: string, { file, find, replace }: Mutation): string {
  if (source.split(find).length !== 2)
    throw new Error(`${name}: its text is not in ${file} exactly once: update the mutation`)
  return source.replace(find, () => replace)
}

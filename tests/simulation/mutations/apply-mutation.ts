import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { mutations } from './mutations.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/**
 * Puts a mistake into one of our files as it is loaded from here on. Throws when there is no such mutation; loading throws when its place is
 * no longer in the file, or no longer once.
 */
export function applyMutation(name: string): void {
  const mutation = mutations[name]
  if (mutation === undefined) throw new Error(`no mutation ${name}`)
  const { file, find, replace } = mutation
  const url = pathToFileURL(join(root, file)).href
  registerHooks({
    load(loaded, context, nextLoad) {
      const module = nextLoad(loaded, context)
      if (loaded !== url) return module
      const source = Buffer.from(module.source as Uint8Array).toString('utf8')
      if (source.split(find).length !== 2)
        throw new Error(`${name}: its place is not in ${file}, or not once; find it anew`)
      return { ...module, source: source.replace(find, () => replace) }
    },
  })
}

import { textOf, type JsonObject } from '#capture/json.ts'
import { hashOfDefinition } from '#capture/tool-definitions.ts'

/** Those of a server's tools that this process has not seen, or saw last with another definition. */
export type NewDefinitions = (server: string, tools: readonly JsonObject[]) => JsonObject[]

/** Tools of all servers together; 200 bytes each. */
const maxRemembered = 50_000

/** Agents list tools at every start: what stays the same is recorded once a process. */
export function createNewDefinitions(max = maxRemembered): NewDefinitions {
  const hashes = new Map<string, string>()
  return (server, tools) =>
    tools.filter((tool) => {
      const name = textOf(tool['name'])
      if (name === undefined) return false
      const key = `${server}/${name}`
      const hash = hashOfDefinition(tool)
      const isNew = hashes.get(key) !== hash
      // The one unused for longest comes first.
      hashes.delete(key)
      hashes.set(key, hash)
      const [oldest] = hashes.keys()
      if (hashes.size > max && oldest !== undefined) hashes.delete(oldest)
      return isNew
    })
}

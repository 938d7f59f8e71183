import { listOf, objectOf, parseJson, textOf, type JsonObject } from '#capture/json.ts'
import { decodeName } from '#capture/model-calls.ts'
import { visitMembers } from '#capture/record/scan-json.ts'
import { plainPath } from '../traffic/call-paths.ts'

/** A request's JSON object, and every value of a member whose name has `model` or the like in any case. */
export interface ReadRequest {
  body: JsonObject
  named: readonly unknown[]
}

/** Undefined for anything but a JSON object in UTF-8. */
export function readRequest(bytes: Buffer): ReadRequest | undefined {
  const body = objectOf(parseJson(bytes.toString('utf8')))
  if (body === undefined) return undefined
  const named: unknown[] = []
  visitMembers(bytes, (name, member) => {
    // Some providers take a name in any case, and of a name that comes twice some take the first.
    if (memberNames.has(name.toLowerCase())) named.push(parseJson(member.bytes.toString('utf8')))
  })
  return { body, named }
}

/** `models` and `fallbacks`: those that a router may use instead. Tools: advisors, and those that draw. */
const memberNames: ReadonlySet<string> = new Set(['model', 'modelid', 'models', 'fallbacks', 'tools'])

/** Google, whose colon ends the name; Bedrock, Azure and older paths of OpenAI, whose names may have one. */
const inPath = /\/(?:models\/([^/?:]+)(?=[/:])|(?:model|deployments|engines)\/([^/?]+)(?=\/))/gi

/**
 * Every model that a request names: which of them the provider calls may depend on the provider. Empty where
 * none is named.
 */
export function namedModels(path: string, request: ReadRequest | undefined): string[] {
  const [bare = ''] = path.split('?', 1)
  const ofPath = namesInPath(bare)
  const written = ofPath.map((name) => `${name.toLowerCase()}/`)
  // Another spelling of the path may name another model. Names may have slashes too.
  const hidden = namesInPath(plainPath(bare)).filter(
    (name) => !written.some((known) => known.startsWith(`${name.toLowerCase()}/`)),
  )
  const ofBody = (request?.named ?? []).flatMap(namesIn)
  return [...new Set([...ofPath, ...hidden, ...ofBody])]
}

function namesInPath(path: string): string[] {
  return [...path.matchAll(inPath)].map(([, google, other = '']) => decodeName(google ?? other))
}

function namesIn(value: unknown): string[] {
  const own = textOf(value)
  if (own !== undefined) return [own]
  return listOf(value).flatMap((entry) => {
    const name = textOf(entry) ?? textOf(objectOf(entry)?.['model'])
    return name === undefined ? [] : [name]
  })
}

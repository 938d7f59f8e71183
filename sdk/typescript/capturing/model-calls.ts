import { shapeOfPath } from '../../../capture/call-shapes.ts'
import { providerOfUpstream } from '../../../capture/providers.ts'

/** A model call, identified by its URL. */
export interface ModelCall {
  /** From the path of Google and Bedrock calls; elsewhere the body names it. */
  model: string | undefined
  provider: string | undefined
  /** Whether other servers have the path too: the call is a model's only if its request names one. */
  namesModel: boolean
}

const pathsWithModel = [
  // Google: `/v1beta/models/gemini-x:generateContent`.
  /\/models\/([^/:]+):(?:generateContent|streamGenerateContent)$/,
  // Anthropic's clients at Google and Bedrock: messages without a model. Bedrock's own: Converse.
  /\/models\/(?!count-tokens:)([^/:]+):(?:rawPredict|streamRawPredict)$/,
  /\/model\/([^/]+)\/(?:invoke|invoke-with-response-stream|converse|converse-stream)$/,
]

/** Cohere chat and Google interactions. */
const directly = /\/v[12]\/chat$|\/interactions$/

/** Ollama. Applications' own chats often have the first path. */
const ofOllama = /\/api\/(?:chat|generate|embed)$/

/** Mistral: start, append and restart. The same paths at OpenAI are no model calls. */
const conversations = /\/conversations(?:\/[^/]+(?:\/restart)?)?$/

/** The client, where a path is ambiguous. */
export type Dialect = 'mistral' | undefined

/** The model call of a POST to `url`; undefined for other requests, which are not recorded. */
export function modelCallOf(url: string, dialect?: Dialect): ModelCall | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname } = new URL(url)
  const model = pathsWithModel.map((path) => path.exec(pathname)?.[1]).find((named) => named !== undefined)
  const provider = providerOfUpstream(hostname, pathname) ?? undefined
  const namesModel = ofOllama.test(pathname)
  const isCall =
    model !== undefined ||
    namesModel ||
    shapeOfPath(pathname) !== null ||
    directly.test(pathname) ||
    ((dialect ?? provider) === 'mistral' && conversations.test(pathname))
  if (!isCall) return undefined
  return { model: model === undefined ? undefined : decodeURIComponent(model), provider, namesModel }
}

/** Whether a request with this text calls a model, where the path alone does not show it. */
export function isModelCall({ namesModel }: ModelCall, body: string): boolean {
  return !namesModel || /"model"\s*:\s*"/.test(body)
}

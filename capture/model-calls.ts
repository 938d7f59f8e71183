import { shapeOfPath } from './call-shapes.ts'
import { providerOfUpstream } from './providers.ts'

/** A model call, identified by its URL. */
export interface ModelCall {
  /** From the path of Google and Bedrock calls; elsewhere the body names it. */
  model: string | undefined
  provider: string | undefined
  /** Whether other servers have the path too: the call is a model's only if its request names one. */
  namesModel: boolean
}

const pathsWithModel = [
  // Google: `/v1beta/models/gemini-x:generateContent`; the last is Vertex AI's for embeddings and images.
  /\/models\/([^/:]+):(?:generateContent|streamGenerateContent|embedContent|batchEmbedContents|predict)$/i,
  // Anthropic's and Mistral's clients at Google and Bedrock: bodies without a model. Bedrock's own: Converse.
  /\/models\/(?!count-tokens:)([^/:]+):(?:rawPredict|streamRawPredict)$/i,
  /\/model\/([^/]+)\/(?:invoke|invoke-with-response-stream|converse|converse-stream)$/i,
]

/** Chat, text and embeddings of Cohere, which others have too; reranking; Google interactions. */
const directly = /\/v[12]\/(?:chat|generate|embed)$|\/rerank$|\/interactions$/

/** Ollama. Applications' own chats often have the first path. */
const ofOllama = /\/api\/(?:chat|generate|embed|embeddings)$/

/** Mistral: start, append and restart. The same paths at OpenAI are no model calls. */
const conversations = /\/conversations(?:\/[^/]+(?:\/restart)?)?$/

/** The client, where a path is ambiguous. */
export type Dialect = 'mistral' | undefined

/** The model call of a POST to `url`; undefined for other requests. */
export function modelCallOf(url: string, dialect?: Dialect): ModelCall | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname } = new URL(url)
  return modelCallAt(hostname, pathname, dialect)
}

/** The model call of a POST to a path (its query is ignored) at a provider's host. */
export function modelCallAt(host: string, given: string, dialect?: Dialect): ModelCall | undefined {
  const [path = ''] = given.split('?', 1)
  const model = pathsWithModel.map((its) => its.exec(path)?.[1]).find((named) => named !== undefined)
  const provider = providerOfUpstream(host, path) ?? undefined
  const namesModel = ofOllama.test(path)
  const isCall =
    model !== undefined ||
    namesModel ||
    shapeOfPath(path) !== null ||
    directly.test(path) ||
    ((dialect ?? provider) === 'mistral' && conversations.test(path))
  if (!isCall) return undefined
  return { model: model === undefined ? undefined : decodeName(model), provider, namesModel }
}

/** A name with invalid percent-encoding stays as it is. */
export function decodeName(name: string): string {
  try {
    return decodeURIComponent(name).replaceAll('\u0000', '')
  } catch (error) {
    if (error instanceof URIError) return name
    throw error
  }
}

/** Whether a request with this text calls a model, where the path alone does not show it. */
export function isModelCall({ namesModel }: ModelCall, body: string): boolean {
  return !namesModel || /"model"\s*:\s*"/.test(body)
}

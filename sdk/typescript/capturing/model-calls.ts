import { shapeOfPath } from '../../../capture/call-shapes.ts'
import { providerOfUpstream } from '../../../capture/providers.ts'

/** A model call, identified by its URL. */
export interface ModelCall {
  /** From the path of Google and Bedrock calls; elsewhere the body names it. */
  model: string | undefined
  provider: string | undefined
}

const pathsWithModel = [
  // Google: `/v1beta/models/gemini-x:generateContent`.
  /\/models\/([^/:]+):(?:generateContent|streamGenerateContent)$/,
  // Anthropic's clients at Google and Bedrock: messages without a model.
  /\/models\/(?!count-tokens:)([^/:]+):(?:rawPredict|streamRawPredict)$/,
  /\/model\/([^/]+)\/(?:invoke|invoke-with-response-stream)$/,
]

/** Cohere chat and Google interactions. */
const directly = /\/v[12]\/chat$|\/interactions$/

/** Mistral: start, append and restart. The same paths at OpenAI are no model calls. */
const conversations = /\/conversations(?:\/[^/]+(?:\/restart)?)?$/

/** The client, where a path is ambiguous. */
export type Dialect = 'mistral' | undefined

/** The model call of a POST to `url`; undefined for other requests, which are not recorded. */
export function modelCallOf(url: string, dialect?: Dialect): ModelCall | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname } = new URL(url)
  const model = pathsWithModel.map((path) => path.exec(pathname)?.[1]).find((named) => named !== undefined)
  const isCall =
    model !== undefined ||
    shapeOfPath(pathname) !== null ||
    directly.test(pathname) ||
    (dialect === 'mistral' && conversations.test(pathname))
  if (!isCall) return undefined
  return {
    model: model === undefined ? undefined : decodeURIComponent(model),
    provider: providerOfUpstream(hostname, pathname) ?? undefined,
  }
}

import { shapeOfPath } from '../../capture/call-shapes.ts'
import { providerOfUpstream } from '../../capture/providers.ts'

/** A call of a model, told by where it goes. */
export interface ModelCall {
  /** In the path of Google's calls and Bedrock's; elsewhere the body names it. */
  model: string | undefined
  provider: string | undefined
}

const pathsWithModel = [
  // Google: `/v1beta/models/gemini-x:generateContent`.
  /\/models\/([^/:]+):(?:generateContent|streamGenerateContent)$/,
  // What Anthropic's clients call at Google, and at Bedrock: messages, without the model.
  /\/models\/(?!count-tokens:)([^/:]+):(?:rawPredict|streamRawPredict)$/,
  /\/model\/([^/]+)\/(?:invoke|invoke-with-response-stream)$/,
]

/** Cohere's chats and Google's interactions. */
const directly = /\/v[12]\/chat$|\/interactions$/

/** Of Mistral, to start, to go on with and to go back in; OpenAI's, of the same path, are no calls of a model. */
const conversations = /\/conversations(?:\/[^/]+(?:\/restart)?)?$/

/** What only some clients mean by a path. */
export type Dialect = 'mistral' | undefined

/** What a POST to `url` is; undefined for what is no call of a model (files, lists of models, …): that is not recorded. */
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

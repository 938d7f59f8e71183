import { providerOfUpstream } from './providers.ts'

/** Protocols over WebSockets: OpenAI's Realtime and Responses, and Gemini Live. */
export type SocketProtocol = 'realtime' | 'responses' | 'live'

const protocols: readonly (readonly [RegExp, SocketProtocol])[] = [
  // Azure's is `/openai/realtime` or `/openai/v1/realtime`.
  [/\/realtime$/, 'realtime'],
  [/\/responses$/, 'responses'],
  // `/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent`; Vertex AI's has a slash.
  [/[./]BidiGenerateContent$/, 'live'],
]

/** The protocol of a WebSocket at `path` (its query is ignored); undefined for other paths. */
export function socketProtocolOf(path: string): SocketProtocol | undefined {
  const [bare = ''] = path.split('?', 1)
  return protocols.find(([its]) => its.test(bare))?.[1]
}

const speakers: Readonly<Record<SocketProtocol, ReadonlySet<string>>> = {
  realtime: new Set(['openai', 'azure', 'xai']),
  responses: new Set(['openai', 'azure', 'xai']),
  live: new Set(['google']),
}

/** Whether the provider at `host` is known to speak the protocol. */
export function speaksProtocol(host: string, protocol: SocketProtocol): boolean {
  const provider = providerOfUpstream(host, '')
  return provider !== null && speakers[protocol].has(provider)
}

/** One upstream of the gateway for each provider, by path. All lead to the stand-in. */
export interface ClientUpstream {
  name: string
  /** Only where neither path nor body tells. */
  provider?: string
  /** In which the provider wants the gateway's own key; null: the application's credentials pass. */
  keyHeader: string | null
}

export const upstreams: readonly ClientUpstream[] = [
  { name: 'openai', keyHeader: 'authorization' },
  { name: 'azure', keyHeader: 'api-key' },
  { name: 'anthropic', keyHeader: 'x-api-key' },
  { name: 'subscription', keyHeader: null },
  { name: 'gemini', keyHeader: 'x-goog-api-key' },
  { name: 'vertex', keyHeader: null },
  { name: 'bedrock', provider: 'bedrock', keyHeader: 'authorization' },
  { name: 'cohere', keyHeader: 'authorization' },
  { name: 'mistral', keyHeader: 'authorization' },
  { name: 'ollama', keyHeader: null },
  { name: 'groq', provider: 'groq', keyHeader: 'authorization' },
  { name: 'together', provider: 'together', keyHeader: 'authorization' },
  { name: 'voyage', keyHeader: 'authorization' },
]

/** The text of UPSTREAMS_FILE. */
export function upstreamsFile(url: string, keyFile: string): string {
  const entries = upstreams.map(({ name, provider, keyHeader }) => ({
    ...{ name, url, path_prefix: `/${name}`, provider },
    ...(keyHeader !== null && {
      credentials: {
        key: { file: keyFile },
        ...(keyHeader !== 'authorization' && { header: keyHeader }),
      },
    }),
  }))
  return JSON.stringify({ upstreams: entries })
}

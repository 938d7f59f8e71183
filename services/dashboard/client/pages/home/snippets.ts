export const snippetNames = ['curl', 'Python', 'TypeScript', 'Anthropic'] as const
export type SnippetName = (typeof snippetNames)[number]

/** The first call in a client's language: through the gateway, with a project's key. */
export function snippetOf(name: SnippetName, gatewayUrl: string, key: string): string {
  switch (name) {
    case 'curl':
      return `curl ${gatewayUrl}/v1/chat/completions \\
  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
  -H 'X-Service-Agent-Name: first-agent' \\
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "What is a sluice?"}]}'`
    case 'Python':
      return `from openai import OpenAI

client = OpenAI(
    base_url="${gatewayUrl}/v1",
    api_key="${key}",
    default_headers={"X-Service-Agent-Name": "first-agent"},
)
answer = client.chat.completions.create(
    model="gpt-4o-mini", messages=[{"role": "user", "content": "What is a sluice?"}]
)
print(answer.choices[0].message.content)`
    case 'TypeScript':
      return `import OpenAI from 'openai'

const openai = new OpenAI({
  baseURL: '${gatewayUrl}/v1',
  apiKey: '${key}',
  defaultHeaders: { 'X-Service-Agent-Name': 'first-agent' },
})
const answer = await openai.chat.completions.create({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'What is a sluice?' }],
})
console.log(answer.choices[0].message.content)`
    case 'Anthropic':
      return `from anthropic import Anthropic

# The gateway's provider is Anthropic: UPSTREAM_API_KEY_HEADER=x-api-key
client = Anthropic(
    base_url="${gatewayUrl}",
    api_key="${key}",
    default_headers={"X-Service-Agent-Name": "first-agent"},
)
answer = client.messages.create(
    model="claude-sonnet-5", max_tokens=200,
    messages=[{"role": "user", "content": "What is a sluice?"}],
)
print(answer.content[0].text)`
  }
}

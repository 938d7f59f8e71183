import type { Stack } from './start-stack.ts'

/** Registers a webhook for threats in the stack's project. Returns its signing secret. */
export async function createWebhook({ apiUrl, apiKey }: Stack, url: string): Promise<string> {
  const response = await fetch(`${apiUrl}/api/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url, events: ['threat_detected'] }),
  })
  if (response.status !== 201) throw new Error(`no webhook: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { secret: string }).secret
}

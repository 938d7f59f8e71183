import type { Destination } from '#schemas/destinations.ts'

const hidden = '[credential]'
/** A shorter text is everywhere by chance. */
const minLength = 4

/** An answer without what the request proved itself by: some receivers repeat requests in their answers. */
export function hideCredentials(body: Buffer, destination: Destination): Buffer {
  // Latin-1 keeps every byte.
  let text = body.toString('latin1')
  for (const secret of secretsOf(destination))
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      text = text.replaceAll(Buffer.from(form).toString('latin1'), hidden)
  return Buffer.from(text, 'latin1')
}

function secretsOf({ kind, settings, credentials }: Destination): string[] {
  const secrets = textsIn(credentials)
  for (const secret of [...secrets]) {
    if (URL.canParse(secret)) secrets.push(new URL(secret).pathname)
    secrets.push(...secret.split(' '))
  }
  if (kind === 'jira') secrets.push(Buffer.from(`${settings.user}:${credentials.token}`).toString('base64'))
  // The longest first: what is left of it would tell the rest.
  return secrets.filter(({ length }) => length >= minLength).toSorted((a, b) => b.length - a.length)
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  // A header's name is no secret.
  return Object.entries(value).flatMap(([name, one]) => (name === 'name' ? [] : textsIn(one)))
}

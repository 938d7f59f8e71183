import type { RedteamTarget } from '#schemas/redteam-run.ts'

/** Names of headers and fields that hold credentials. */
const credentialName =
  /^(proxy-)?authorization$|cookie|token$|secret|passw(or)?d|^key$|(api|auth|access|service|subscription)[-_]?key$/i

/**
 * Where a target's description contains credentials: they would be stored in clear, and readers of the run
 * see the address.
 */
export function findCredentials(target: RedteamTarget): { path: string; message: string }[] {
  if (target.kind === 'command' || target.kind === 'recorded') return []
  const { username, password, searchParams } = new URL(target.url)
  const headers = target.kind === 'http' ? Object.entries(target.headers) : []
  return [
    ...(username === '' && password === ''
      ? []
      : [{ path: 'target.url', message: 'must not hold a user name or a password' }]),
    ...[...new Set(searchParams.keys())]
      .filter((name) => credentialName.test(name))
      .map((name) => ({
        path: 'target.url',
        message: `${name} must not be in it: addresses are stored and shown; send it as a header of a template, with {{key}} for its value`,
      })),
    ...headers
      .filter(([name, value]) => credentialName.test(name) && !value.includes('{{key}}'))
      .map(([name]) => ({
        path: `target.headers.${name}`,
        message:
          'must hold {{key}} in place of the credential, which --key or REDTEAM_TARGET_KEYS gives: headers are stored',
      })),
  ]
}

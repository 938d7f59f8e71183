import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import { listen } from '#runtime/operations-server.ts'

/** Claims of the next account that signs in. */
export interface TestAccount {
  sub: string
  [claim: string]: unknown
}

export interface TestOpenidProvider {
  issuer: string
  signsIn(account: TestAccount): void
  stop(): Promise<void>
}

export const testClient = { id: 'sluice', secret: 'a client secret for tests' }

type SecretMethod = 'client_secret_basic' | 'client_secret_post'

/** A real OpenID provider that signs users in without asking. */
export async function startOpenidProvider(
  callbackUrl: string,
  takesSecretBy?: SecretMethod,
): Promise<TestOpenidProvider> {
  let account: TestAccount = { sub: 'nobody' }
  let handle: (...given: Parameters<ReturnType<Provider['callback']>>) => unknown = () => undefined
  const server = createServer((request, response) => handle(request, response))
  await listen(server, 0, '127.0.0.1')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider: Provider = new Provider(issuer, {
    clients: [
      {
        client_id: testClient.id,
        client_secret: testClient.secret,
        redirect_uris: [callbackUrl],
        ...(takesSecretBy === undefined ? {} : { token_endpoint_auth_method: takesSecretBy }),
      },
    ],
    ...(takesSecretBy === undefined ? {} : { clientAuthMethods: [takesSecretBy] }),
    claims: { email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    cookies: { keys: ['a key for cookies in tests'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...account, sub }) }),
    interactions: { url: (_context, interaction) => `/sign-in/${interaction.uid}` },
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc
      const grant = new provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      })
      grant.addOIDCScope('openid profile email groups')
      await grant.save()
      return grant
    },
  })
  const serve = provider.callback()
  handle = (request, response) =>
    request.url?.startsWith('/sign-in/') === true
      ? provider.interactionFinished(request, response, { login: { accountId: account.sub } })
      : serve(request, response)
  return {
    issuer,
    signsIn: (next) => {
      account = next
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

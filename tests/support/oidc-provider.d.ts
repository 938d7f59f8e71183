/** The part that tests use: the package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Context {
    oidc: { client?: { clientId: string }; session?: { accountId?: string } }
  }
  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }
  interface Configuration {
    clients: object[]
    claims: Record<string, string[]>
    cookies: { keys: string[] }
    features: object
    findAccount(context: Context, sub: string): { accountId: string; claims(): object }
    interactions: { url(context: Context, interaction: { uid: string }): string }
    loadExistingGrant(context: Context): Promise<Grant>
  }
  export class Provider {
    constructor(issuer: string, configuration: Configuration)
    readonly Grant: new (of: { clientId: string; accountId: string }) => Grant
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}

import { z } from 'zod'
import { httpUrl } from '#runtime/config-addresses.ts'

/** How the gateway gets credentials for UPSTREAM_URL. */
export const upstreamTokenFields = {
  UPSTREAM_AUTH: z
    .enum(['key', 'client_credentials'])
    .default('key')
    .describe(
      '`key`: UPSTREAM_API_KEY if set. `client_credentials`: an OAuth 2 token from UPSTREAM_TOKEN_URL.',
    ),
  UPSTREAM_TOKEN_URL: httpUrl()
    .optional()
    .describe('Token endpoint of the identity provider, for UPSTREAM_AUTH=client_credentials.'),
  UPSTREAM_CLIENT_ID: z.string().min(1).optional().describe('Client id for the token request.'),
  UPSTREAM_CLIENT_SECRET: z.string().min(1).optional().describe('Its secret.'),
  UPSTREAM_TOKEN_SCOPE: z
    .string()
    .min(1)
    .optional()
    .describe('Scope of the tokens, for instance `https://cognitiveservices.azure.com/.default`.'),
}

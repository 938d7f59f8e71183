import { z } from 'zod'
import { httpUrl } from './config-addresses.ts'

/** How a client proves who it is to Kafka, and what it sends. */
export const kafkaLoginFields = {
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'])
    .optional()
    .describe('SASL mechanism; unset: none.'),
  KAFKA_SASL_USERNAME: z.string().optional().describe('SASL user.'),
  KAFKA_SASL_PASSWORD: z.string().optional().describe('SASL password.'),
  KAFKA_OAUTH_TOKEN_URL: httpUrl()
    .optional()
    .describe('Token endpoint of the identity provider, for KAFKA_SASL_MECHANISM=oauthbearer.'),
  KAFKA_OAUTH_CLIENT_ID: z.string().optional().describe('Client id for KAFKA_OAUTH_TOKEN_URL.'),
  KAFKA_OAUTH_CLIENT_SECRET: z.string().optional().describe('Client secret for KAFKA_OAUTH_TOKEN_URL.'),
  KAFKA_OAUTH_SCOPE: z.string().optional().describe('Scope of the tokens; unset: none is asked for.'),
  KAFKA_OAUTH_EXTENSIONS: z
    .string()
    .optional()
    .transform((text, context) => {
      const pairs = (text ?? '').split(',').filter((pair) => pair.trim() !== '')
      // RFC 7628, 3.1.
      const parsed = pairs.map((pair) => /^\s*([A-Za-z]+)=([\x21-\x7e]+)\s*$/.exec(pair))
      if (parsed.some((match) => match === null || match[1] === 'auth'))
        context.addIssue({
          code: 'custom',
          message: 'expected name=value, comma-separated; names of letters',
        })
      return Object.fromEntries(parsed.map((match) => [match?.[1] ?? '', match?.[2] ?? '']))
    })
    .describe(
      'SASL extensions that go with each token: `name=value`, comma-separated. Confluent Cloud needs logicalCluster and identityPoolId.',
    ),
  KAFKA_COMPRESSION: z
    .enum(['zstd', 'gzip', 'none'])
    .default('zstd')
    .describe(
      'How records are compressed on their way to Kafka. `gzip` for brokers or proxies that take no zstd. All three can be read, whatever is set.',
    ),
}

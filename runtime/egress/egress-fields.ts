import { z } from 'zod'
import { withCredentials, httpUrl } from '../config-addresses.ts'
import { messageOf } from '../errors.ts'
import { parseNoProxy } from './no-proxy.ts'

/** For processes that reach what is outside. */
export const egressFields = {
  UPSTREAM_PROXY_URL: withCredentials(httpUrl())
    .refine((url) => !URL.canParse(url) || /^\/?$/.test(new URL(url).pathname), 'must not hold a path')
    .optional()
    .describe(
      'Egress proxy, `http://` or `https://`, with `user:password@` where it needs them. Model providers, identity providers, the judge, webhooks and HTTP destinations are reached through it by CONNECT; Kafka, Postgres, the API, loopback, mail and syslog servers never are. Unset: directly.',
    ),
  NO_PROXY: z
    .string()
    .default('')
    .transform((text, context) => {
      try {
        return parseNoProxy(text.split(/[\s,]+/).filter((entry) => entry !== ''))
      } catch (error) {
        context.addIssue({ code: 'custom', message: messageOf(error) })
        return z.NEVER
      }
    })
    .describe(
      'What is reached without UPSTREAM_PROXY_URL, comma-separated: hosts, suffixes with a leading dot (which stand for the names below), addresses, CIDR ranges, each of the first three with `:port` if wanted; `*` is everything. Names are not resolved for it.',
    ),
}

export type EgressConfig = z.output<z.ZodObject<typeof egressFields>>

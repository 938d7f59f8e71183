import { z } from 'zod'
import {
  internalSecret,
  listOf,
  operationsPort,
  port,
  processFields,
  servingFields,
  unlessWrong,
} from '#runtime/config.ts'
import { baseUrl, listenHost } from '#runtime/config-addresses.ts'
import express from 'express'

const roles = ['viewer', 'analyst', 'admin'] as const

/** `group=role`, comma-separated. */
const groupRoles = listOf(
  z
    .string()
    .regex(/^.+=(?:viewer|analyst|admin)$/, `expected group=role, with a role of ${roles.join(', ')}`)
    .transform((text): [string, (typeof roles)[number]] => {
      const at = text.lastIndexOf('=')
      return [text.slice(0, at), text.slice(at + 1) as (typeof roles)[number]]
    }),
).default([])

const settings = z.object({
  ...processFields,
  ...servingFields,
  OPS_PORT: operationsPort(9004),
  DASHBOARD_HOST: listenHost('Address that the dashboard listens on.'),
  DASHBOARD_PORT: port(3000).describe('Port that the dashboard listens on.'),
  DASHBOARD_URL: baseUrl()
    .default('http://localhost:3000')
    .describe('Where people reach the dashboard. With https its cookies are for https alone.'),
  GATEWAY_URL: baseUrl()
    .default('http://localhost:8080')
    .describe('Where applications reach the gateway, for the examples that a project without calls shows.'),
  API_BACKEND_URL: baseUrl()
    .default('http://localhost:8000')
    .describe('Where the dashboard reaches the API.'),
  INTERNAL_API_SECRET: internalSecret().describe(
    "The API's: with it the dashboard speaks for the signed-in user. Never given to a browser.",
  ),
  DASHBOARD_ADMIN_LOGIN: z
    .string()
    .regex(
      /^[A-Za-z0-9.@!#$%&'*+/=?^_`{|}~-]{1,200}$/,
      'expected a name or an e-mail address, without spaces',
    )
    .default('admin')
    .describe('Login of the administrator that is made where there is nobody yet.'),
  DASHBOARD_ADMIN_PASSWORD: z
    .string()
    .min(12, 'must have at least 12 characters')
    .max(200, 'must have at most 200 characters')
    .optional()
    .describe('Their password, at least 12 characters. Unset: one is made and printed once.'),
  DASHBOARD_CLIENT_DIR: z
    .string()
    .optional()
    .describe('The built client. Unset: services/dashboard/dist, as npm run build:dashboard leaves it.'),
  OIDC_ISSUER: z
    .url()
    .refine(
      (url) => /^https:|^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)/.test(url),
      'must be https',
    )
    .optional()
    .describe('OpenID provider, as in its `issuer`. Unset: people sign in by password alone.'),
  OIDC_CLIENT_ID: z
    .string()
    .optional()
    .describe('What the provider calls this dashboard. Needed with OIDC_ISSUER.'),
  OIDC_CLIENT_SECRET: z
    .string()
    .optional()
    .describe("The client's secret. Unset: a public client, by PKCE alone."),
  OIDC_LABEL: z.string().default('single sign-on').describe('What stands on the button: Sign in with …'),
  OIDC_SCOPES: z
    .string()
    .default('openid profile email')
    .describe('What is asked for; add the one that brings groups.'),
  OIDC_LOGIN_CLAIM: z.string().default('email').describe('The claim that becomes the login of somebody new.'),
  OIDC_GROUPS_CLAIM: z.string().default('groups').describe('The claim that names the groups of a person.'),
  OIDC_GROUP_ROLES: groupRoles.describe(
    '`group=role`, comma-separated; roles are viewer, analyst, admin. The highest counts, evaluated at each sign-in.',
  ),
  OIDC_DEFAULT_ROLE: z
    .enum(roles)
    .optional()
    .describe('Role of users in none of these groups. Unset: they may not sign in.'),
  TRUSTED_PROXIES: listOf(
    z
      .string()
      .refine(isNetwork, 'expected addresses, networks (10.0.0.0/8), loopback, linklocal or uniquelocal'),
  )
    .default([])
    .describe(
      'Addresses or networks of proxies whose `X-Forwarded-For` is believed, comma-separated; also `loopback`, `uniquelocal`. Unset: none.',
    ),
})

export const dashboardConfigSchema = settings
  .refine(
    ({ OIDC_ISSUER, OIDC_CLIENT_ID }) => (OIDC_ISSUER === undefined) === (OIDC_CLIENT_ID === undefined),
    {
      path: ['OIDC_CLIENT_ID'],
      message: 'is set exactly when OIDC_ISSUER is',
      when: unlessWrong('OIDC_ISSUER', 'OIDC_CLIENT_ID'),
    },
  )
  // The API's rule: refused there, the dashboard would exit and restart for ever.
  .refine(
    ({ DASHBOARD_ADMIN_LOGIN: login, DASHBOARD_ADMIN_PASSWORD: password }) =>
      password?.toLowerCase() !== login.toLowerCase(),
    {
      path: ['DASHBOARD_ADMIN_PASSWORD'],
      message: 'must not be DASHBOARD_ADMIN_LOGIN',
      when: unlessWrong('DASHBOARD_ADMIN_LOGIN', 'DASHBOARD_ADMIN_PASSWORD'),
    },
  )

export type DashboardConfig = z.output<typeof dashboardConfigSchema>

/** Whether express accepts it for `trust proxy`: an address, a network, or a name for some. */
function isNetwork(text: string): boolean {
  try {
    express().set('trust proxy', [text])
    return true
  } catch {
    return false
  }
}

import { z } from 'zod'
import { listOf, operationsPort, processFields } from '#runtime/config.ts'

export const dashboardConfigSchema = z.object({
  ...processFields,
  OPS_PORT: operationsPort(9004),
  DASHBOARD_HOST: z.string().default('0.0.0.0').describe('Address that the dashboard listens on.'),
  DASHBOARD_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(3000)
    .describe('Port that the dashboard listens on.'),
  DASHBOARD_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://localhost:3000')
    .describe('Where people reach the dashboard. With https its cookies are for https alone.'),
  API_BACKEND_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://localhost:8000')
    .describe('Where the dashboard reaches the API.'),
  INTERNAL_API_SECRET: z
    .string()
    .min(16, 'must have at least 16 characters')
    .describe("The API's: with it the dashboard speaks for whoever is signed in. Never given to a browser."),
  DASHBOARD_ADMIN_LOGIN: z
    .string()
    .default('admin')
    .describe('Login of the administrator that is made where there is nobody yet.'),
  DASHBOARD_ADMIN_PASSWORD: z
    .string()
    .optional()
    .describe('Their password, at least 12 characters. Unset: one is made and printed once.'),
  DASHBOARD_CLIENT_DIR: z
    .string()
    .optional()
    .describe('The built client. Unset: services/dashboard/dist, as npm run build:dashboard leaves it.'),
  TRUSTED_PROXIES: listOf(z.string())
    .default([])
    .describe(
      'Addresses or networks of proxies whose `X-Forwarded-For` is believed, comma-separated; also `loopback`, `uniquelocal`. Unset: none.',
    ),
})

export type DashboardConfig = z.output<typeof dashboardConfigSchema>

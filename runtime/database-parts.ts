import { z } from 'zod'
import { flag } from './config-values.ts'

/** Postgres by its parts, in place of DATABASE_URL, as operators and secret stores hand them out. */
export const databasePartFields = {
  DATABASE_HOST: z
    .string()
    .regex(/^[^\s/@?#]+$/, 'expected a host name or an address, without a port')
    .optional()
    .describe('Host of Postgres, in place of DATABASE_URL, with the next five.'),
  DATABASE_PORT: z.coerce.number().int().min(1).max(65_535).default(5432).describe('Port of DATABASE_HOST.'),
  DATABASE_NAME: z.string().default('sluice').describe('Database at DATABASE_HOST.'),
  DATABASE_USER: z.string().optional().describe('Login at DATABASE_HOST.'),
  DATABASE_PASSWORD: z.string().optional().describe('Its password.'),
  DATABASE_SSL: flag().describe(
    'Whether to connect to DATABASE_HOST over TLS that is verified by the authorities of Node. With DATABASE_SSL_CA it always is.',
  ),
}

type Given = Readonly<Record<string, string>>

/** The variables with DATABASE_URL, made of its parts if they are set; `problems` gets what is wrong. */
export function withDatabaseUrl(given: Given, problems: string[]): Given {
  const { DATABASE_URL: url, DATABASE_HOST: host, DATABASE_USER: user, DATABASE_PASSWORD: password } = given
  if (host === undefined) return given
  if (url !== undefined) {
    problems.push('DATABASE_HOST: is set, and so is DATABASE_URL: take one away')
    return given
  }
  const missing = ['DATABASE_USER', 'DATABASE_PASSWORD'].filter((name) => given[name] === undefined)
  problems.push(...missing.map((name) => `${name}: is not set, and DATABASE_HOST is`))
  const login = [user ?? '', password ?? ''].map(encodeURIComponent).join(':')
  const place = `${host.includes(':') ? `[${host}]` : host}:${given['DATABASE_PORT'] ?? '5432'}`
  const isVerified = given['DATABASE_SSL'] === 'true' && given['DATABASE_SSL_CA'] === undefined
  const made = `postgres://${login}@${place}/${encodeURIComponent(given['DATABASE_NAME'] ?? 'sluice')}`
  return { ...given, DATABASE_URL: isVerified ? `${made}?sslmode=verify-full` : made }
}

import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { roles } from '#http/access/principal.ts'
import { idField, textField } from '#http/fields.ts'
import { invalidInput } from '#http/problem.ts'

export const loginField = z
  .string()
  .regex(
    /^[A-Za-z0-9.@!#$%&'*+/=?^_`{|}~-]{1,200}$/,
    "must be 1 to 200 letters, digits or any of . @ ! # $ % & ' * + / = ? ^ _ ` { | } ~ -",
  )
  .transform((login) => login.toLowerCase())
  .describe('A name or an e-mail address, not case-sensitive.')

const minPasswordLength = 12

/** Length alone, by NIST SP 800-63B: composition rules lead to worse passwords. */
export const passwordField = textField(200).min(
  minPasswordLength,
  `must have at least ${minPasswordLength} characters`,
)

/** Throws 422 for a password that contains the login. */
export function refuseNamedPassword(path: string, password: string, login: string): void {
  if (password.toLowerCase() === login) throw invalidInput([{ path, message: 'must not be the login' }])
}

/** 144 random bits. */
export function makePassword(): string {
  return randomBytes(18).toString('base64url')
}

export const personFields = {
  name: textField(200),
  role: z.enum(roles),
  project_ids: z
    .array(idField('project'))
    .max(500)
    .refine((ids) => new Set(ids).size === ids.length, 'must not name a project twice')
    .describe('The visible projects; administrators see all.'),
}

export const personSchema = z.object({
  id: z.string(),
  login: z.string(),
  ...personFields,
  has_password: z.boolean(),
  oidc_issuer: z.string().nullable().describe('The OpenID provider of the user; null: none so far.'),
  disabled: z.boolean(),
  created_at: z.iso.datetime(),
  last_login_at: z.iso.datetime().nullable(),
})

const loginSchema = z.object({
  id: z.string(),
  created_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime(),
  ends_at: z.iso.datetime(),
  address: z.string().nullable(),
  user_agent: z.string().nullable(),
})

export const loginsReply = {
  status: 200,
  description: 'Valid logins, the latest first, on one page: the limit is twenty.',
  schema: z.object({
    items: z.array(loginSchema),
    total: z.number().int(),
    page: z.number().int(),
    page_size: z.number().int(),
    next_cursor: z.null(),
  }),
} as const

export const personWithPassword = personSchema.extend({
  password: z.string().optional().describe('Present when one was generated; shown only here.'),
})

export const signedInReply = {
  status: 201,
  description: 'The user is signed in.',
  schema: z.object({
    token: z
      .string()
      .describe('Send it as X-Sluice-Login together with INTERNAL_API_SECRET. Shown only here.'),
    person_id: z.string(),
    ends_at: z.iso.datetime(),
  }),
} as const

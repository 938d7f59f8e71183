import { parseDocument } from 'yaml'
import { z } from 'zod'
import type { Environment } from '#runtime/config.ts'
import { PermanentError } from '#runtime/errors.ts'
import { hashOfKey } from '#http/access/credentials.ts'
import { keyScopes } from '#http/access/principal.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { Problem, type FieldError } from '#http/problem.ts'
import { validate } from '#http/validate.ts'
import { limitFields } from '../routes/key-schemas.ts'
import { loginField, passwordField, personFields } from '../routes/people-schemas.ts'
import { projectFields } from '../routes/project-fields.ts'
import { webhookFields } from '../routes/webhook-routes.ts'
import { resolveReferences } from './resolve-references.ts'

const refField = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 small letters, digits or hyphens')

const keySchema = z.strictObject({
  ...z.strictObject(limitFields).partial().shape,
  name: textField(200),
  scope: z.enum(keyScopes).default('all'),
  expires_at: timeField.nullable().optional(),
  key: z
    .string()
    .refine(
      (key) => hashOfKey(key) !== undefined,
      'must be svc_, perhaps a label and _, and 48 hexadecimal digits',
    ),
})

const webhookSchema = z.strictObject({
  ...z.strictObject(webhookFields).partial().shape,
  url: webhookFields.url,
  events: webhookFields.events,
  secret: textField(200).min(24, 'must have at least 24 characters'),
})

const projectSchema = z.strictObject({
  ...z.strictObject(projectFields).partial().shape,
  ref: refField,
  id: idField('project').optional(),
  name: projectFields.name,
  keys: z.array(keySchema).default([]),
  webhooks: z
    .array(webhookSchema)
    .default([])
    .superRefine((webhooks, context) => refuseTwice(webhooks, 'url', context)),
})

const personSchema = z.strictObject({
  login: loginField,
  name: personFields.name,
  role: personFields.role,
  projects: z.array(refField).optional(),
  disabled: z.boolean().optional(),
  initial_password: passwordField.optional(),
})

const initSchema = z
  .strictObject({
    projects: z
      .array(projectSchema)
      .default([])
      .superRefine((projects, context) => refuseTwice(projects, 'ref', context)),
    people: z
      .array(personSchema)
      .default([])
      .superRefine((people, context) => refuseTwice(people, 'login', context)),
  })
  .superRefine(({ projects, people }, context) => {
    const refs = new Set(projects.map(({ ref }) => ref))
    for (const [index, { projects: named = [] }] of people.entries())
      for (const [position, ref] of named.entries())
        if (!refs.has(ref))
          context.addIssue({
            code: 'custom',
            path: ['people', index, 'projects', position],
            message: `names ${ref}, which no project of the file has as its ref`,
          })
  })

/** What SLUICE_INIT_FILE declares, with its references resolved. */
export type InitFile = z.output<typeof initSchema>
export type DeclaredProject = InitFile['projects'][number]
export type DeclaredKey = DeclaredProject['keys'][number]
export type DeclaredWebhook = DeclaredProject['webhooks'][number]
export type DeclaredPerson = InitFile['people'][number]

/** The file cannot be applied: one line per fault, with the field and never its value. */
export function initFileInvalid(faults: readonly FieldError[]): PermanentError {
  const lines = faults.map(({ path, message }) => `  ${path === '' ? 'the file' : path}: ${message}`)
  const message = `SLUICE_INIT_FILE is wrong, nothing of it was applied\n${lines.join('\n')}`
  return new PermanentError('INIT_FILE_INVALID', message)
}

/** The file's text (YAML or JSON) as what it declares; throws INIT_FILE_INVALID with all faults. */
export function parseInitFile(text: string, environment: Environment): InitFile {
  const document = parseDocument(text, { logLevel: 'error' })
  const syntax = document.errors.map(({ message }) => ({ path: '', message: message.split('\n')[0] ?? '' }))
  if (syntax.length > 0) throw initFileInvalid(syntax)
  const faults: FieldError[] = []
  const resolved = resolveReferences(document.toJS(), environment, faults)
  if (faults.length > 0) throw initFileInvalid(faults)
  try {
    return validate(initSchema, resolved ?? {})
  } catch (error) {
    if (error instanceof Problem) throw initFileInvalid(error.errors ?? [])
    throw error
  }
}

function refuseTwice<K extends string>(
  items: readonly Readonly<Record<K, string>>[],
  field: K,
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    if (seen.has(item[field]))
      context.addIssue({ code: 'custom', path: [index, field], message: 'is declared twice' })
    seen.add(item[field])
  }
}

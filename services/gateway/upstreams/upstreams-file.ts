import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import { baseUrl } from '#runtime/config-addresses.ts'
import { messageOf } from '#runtime/errors.ts'
import { credentialsSchema, readCredentials, type UpstreamSecret } from './credentials-schema.ts'

const milliseconds = z.int().min(1).max(3_600_000).optional()
const hostName = z
  .string()
  .regex(/^[a-z0-9.-]+$|^\[[0-9a-f:]+\]$/, 'expected a host name in lower case, without a port')

const entrySchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'expected up to 32 of a-z, 0-9 and -'),
  url: baseUrl('must not contain a user name or password, which calls would not carry: use credentials'),
  /** What it is: a provider of models, or an MCP server (streamable HTTP). */
  kind: z.enum(['model', 'mcp']).optional(),
  /** A request matches by all that are given, and the first entry that matches takes it. */
  hosts: z.array(hostName).min(1).optional(),
  port: z.int().min(1).max(65_535).optional(),
  path_prefix: z
    .string()
    .regex(/^(?:\/[A-Za-z0-9._~-]+)+$/, 'expected a path such as /openai, without a slash at the end')
    .optional(),
  /** Of records; without it by the host name of `url`. */
  provider: z.string().min(1).max(64).optional(),
  credentials: credentialsSchema.optional(),
  /** Projects that may call it, with GATEWAY_AUTH=project_keys; without a list all may. */
  projects: z.array(z.string().regex(/^prj_[a-z0-9]+$/)).optional(),
  /** Without it, where the provider is known to have them. */
  websockets: z.boolean().optional(),
  connections: z.int().min(1).max(65_535).optional(),
  max_waiting: z.int().min(0).max(1_000_000).optional(),
  connect_timeout_ms: milliseconds,
  first_byte_timeout_ms: milliseconds,
  idle_timeout_ms: milliseconds,
  /** After so many failures in a row without an answer, calls are refused for `open_ms`. */
  breaker: z
    .strictObject({ failures: z.int().min(1).max(1_000), open_ms: z.int().min(100).max(600_000) })
    .optional(),
})

const fileSchema = z
  .strictObject({ upstreams: z.array(entrySchema).min(1).max(200) })
  .superRefine(({ upstreams }, context) => {
    const refuse = (at: number, field: string, message: string) =>
      context.addIssue({ code: 'custom', path: ['upstreams', at, field], message })
    for (const [at, { name, hosts, port, path_prefix: prefix }] of upstreams.entries()) {
      if (upstreams.findIndex((other) => other.name === name) < at) refuse(at, 'name', `${name} comes twice`)
      const takesAll = hosts === undefined && port === undefined && prefix === undefined
      if (takesAll && at < upstreams.length - 1)
        refuse(
          at,
          'name',
          `${name} matches every request, so it must come last: give it hosts, port or path_prefix`,
        )
    }
  })

export type UpstreamKind = NonNullable<z.output<typeof entrySchema>['kind']>

/** An upstream as the file describes it, its secrets read. */
export interface UpstreamEntry extends Omit<z.output<typeof entrySchema>, 'credentials'> {
  credentials: UpstreamSecret | undefined
}

/** The file cannot be used; the message names each field and what was expected. */
class UpstreamsFileInvalid extends Error {}

/**
 * Reads UPSTREAMS_FILE (YAML or JSON). Throws an error that names each fault. `needsCredentials`: callers use
 * keys of projects, which must never reach a provider.
 */
export function readUpstreamsFile(
  path: string,
  environment: NodeJS.ProcessEnv,
  needsCredentials: boolean,
): UpstreamEntry[] {
  const checked = fileSchema.safeParse(parsedFile(path))
  if (!checked.success) {
    const faults = checked.error.issues.map(
      (issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`,
    )
    throw new UpstreamsFileInvalid(`${path}: ${faults.join('; ')}`)
  }
  return checked.data.upstreams.map((entry, at) => {
    const fail = (what: string) => new UpstreamsFileInvalid(`${path}: upstreams.${at}.credentials: ${what}`)
    if (entry.credentials === undefined) {
      // Of an MCP server's requests, whatever holds our key is left out.
      if (needsCredentials && entry.kind !== 'mcp')
        throw fail("is needed with GATEWAY_AUTH=project_keys: a project's key must never reach the provider")
      return { ...entry, credentials: undefined }
    }
    return { ...entry, credentials: readCredentials(entry.credentials, environment, fail) }
  })
}

function parsedFile(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UpstreamsFileInvalid(`${path}: ${messageOf(error)}`, { cause: error })
  }
}

import { z } from 'zod'
import { textField } from './fields.ts'

export const redteamStatuses = ['queued', 'running', 'scoring', 'done', 'cancelled', 'failed'] as const
export type RedteamStatus = (typeof redteamStatuses)[number]
export const redteamVerdicts = ['pass', 'fail', 'unscored'] as const
export type RedteamVerdict = (typeof redteamVerdicts)[number]
export const redteamAttemptStates = ['planned', 'sending', 'recorded', 'judged', 'skipped'] as const

/** Transformations that a run applies to every probe, `plain` first. */
export const redteamTransformations = [
  ...(['plain', 'base64', 'hex', 'rot13', 'backwards', 'leetspeak', 'look_alikes', 'zero_width'] as const),
  ...(['full_width', 'spaced', 'tag_letters', 'role_play', 'developer_mode', 'no_refusal'] as const),
  ...(['translation_table', 'payload_splitting', 'many_shot', 'crescendo', 'json_form'] as const),
  ...(['story_frame', 'adaptive'] as const),
] as const
export type RedteamTransformation = (typeof redteamTransformations)[number]

// An argument that a process can be started with.
const argument = z.string().refine((text) => !text.includes('\0'), 'must hold no NUL')
const url = z
  .url({ protocol: /^https?$/, error: 'must be an address that starts with http:// or https://' })
  .max(2_000)

/** The target of attacks. Credentials are in the configuration of the red team, not here. */
export const redteamTargetSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('chat'),
    url: url.describe('A chat-completions endpoint; without a path, `/v1/chat/completions`.'),
    model: textField(200).default('default'),
  }),
  z.strictObject({
    kind: z.literal('http'),
    url,
    headers: z
      .record(
        z
          .string()
          .regex(/^[A-Za-z0-9-]{1,60}$/)
          .toLowerCase(),
        textField(2_000),
      )
      .default({})
      .describe('`{{key}}` stands for the key of the host, which is not stored.'),
    body: textField(20_000).describe(
      'JSON in which `{{prompt}}` stands, inside quotation marks, for what is said and `{{session}}` for the conversation.',
    ),
    answer: z
      .string()
      .regex(/^(\/[^/]*)*$/, 'must be a JSON pointer')
      .max(500)
      .describe('JSON pointer to the text of the answer.'),
  }),
  z.strictObject({ kind: z.literal('command') }),
  z.strictObject({ kind: z.literal('recorded'), format: z.enum(['garak', 'promptfoo']) }),
])
export type RedteamTarget = z.output<typeof redteamTargetSchema>

/** A program and its arguments: the target of a command-line run. */
export const redteamCommandSchema = z.tuple(
  [argument.refine((name) => name !== '', 'must name a program')],
  argument,
)

/** Options of a run, besides its target. */
export const redteamOptionsSchema = z.strictObject({
  probes: z
    .array(textField(100))
    .max(1_000)
    .default([])
    .describe('Ids, beginnings of ids, categories (`LLM01`) or scorers; empty: all.'),
  transformations: z.array(z.enum(redteamTransformations)).min(1).max(21).default(['plain']),
  repeats: z.number().int().min(1).max(100).default(1),
  limit: z.number().int().min(1).max(100_000).optional().describe('Attempts at most.'),
  concurrency: z.number().int().min(1).max(256).default(4),
  requests_per_minute: z.number().int().min(1).max(1_000_000).optional(),
  alert: z.boolean().default(false).describe('Raise `threat_detected` for what fails.'),
})
export type RedteamOptions = z.output<typeof redteamOptionsSchema>

/** Metadata names of a recorded attempt. */
export const redteamMetadata = {
  run: 'redteam_run_id',
  probe: 'redteam_probe',
  category: 'redteam_category',
  transformation: 'redteam_transformation',
  repeat: 'redteam_repeat',
  attempt: 'redteam_attempt',
  turn: 'redteam_turn',
  alert: 'redteam_alert',
} as const

/** Whether a recorded call is a red team's and was not started with events. `metadata` is JSON text. */
export function isSilentProbe({ source, metadata }: { source: string; metadata: string | null }): boolean {
  if (source !== 'redteam') return false
  return metadata === null || fieldOfJson(metadata, redteamMetadata.alert) !== true
}

/** Parsed, because Postgres changes the blanks of JSON text. */
function fieldOfJson(json: string, name: string): unknown {
  try {
    return (JSON.parse(json) as Readonly<Record<string, unknown>> | null)?.[name]
  } catch {
    return undefined // Not JSON.
  }
}

import { fieldAt, listOf, objectOf, parseJson, textOf } from './json.ts'

/** Headers by lower-case name, as Node gives them. */
export type CallHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What a coding agent says of a call of its own accord. */
export interface CodingAgentLabels {
  agent_name?: string
  session_id?: string
  user_id?: string
}

/** Where an agent names its session or user. */
interface LabelSource {
  /** In words, for docs/gateway.md. */
  readonly from: string
  read(headers: CallHeaders, body: unknown): unknown
}

export interface CodingAgent {
  readonly name: string
  /** Whether a call comes from it, by what `docs/gateway.md` prints. */
  readonly knownBy: string
  sent(headers: CallHeaders): boolean
  /** The first that has a value decides. */
  readonly session: readonly LabelSource[]
  /** An account, or else the installation: none of the agents sends a name. */
  readonly user: readonly LabelSource[]
}

function header(name: string): LabelSource {
  return { from: `\`${name}\``, read: (headers) => headers[name] }
}

function member(...path: readonly string[]): LabelSource {
  return { from: `\`${path.join('.')}\` of the body`, read: (_headers, body) => fieldAt(body, ...path) }
}

function beginsWith(headers: CallHeaders, name: string, pattern: RegExp): boolean {
  const value = headers[name]
  return typeof value === 'string' && pattern.test(value)
}

/**
 * Each row was read from what the agent sends: Claude Code 2.1, Codex 0.171, Gemini CLI 0.61 and Copilot CLI
 * 1.0 against a recording server (tests/platform/clients runs them), Copilot in VS Code from its source.
 */
export const codingAgents: readonly CodingAgent[] = [
  {
    name: 'claude-code',
    knownBy: '`user-agent: claude-cli/…`',
    sent: (headers) => beginsWith(headers, 'user-agent', /^claude-cli\//),
    session: [header('x-claude-code-session-id'), claudeUser('session_id', 'session')],
    user: [claudeUser('account_uuid', 'account'), claudeUser('device_id', 'user')],
  },
  {
    name: 'codex',
    knownBy: '`originator: codex_…`',
    // Its clients for the terminal, editors and scripts have names of their own with this beginning.
    sent: (headers) => beginsWith(headers, 'originator', /^codex/i),
    session: [
      header('session-id'),
      header('session_id'),
      member('client_metadata', 'session_id'),
      member('prompt_cache_key'),
    ],
    // Not `chatgpt-account-id`, which a whole workspace shares.
    user: [member('client_metadata', 'x-codex-installation-id')],
  },
  {
    name: 'gemini-cli',
    knownBy: '`user-agent: GeminiCLI…`',
    sent: (headers) => beginsWith(headers, 'user-agent', /^GeminiCLI/),
    // With an API key it sends none.
    session: [],
    user: [header('x-gemini-api-privileged-user-id')],
  },
  {
    name: 'copilot',
    knownBy: '`x-interaction-type` with `x-initiator`, or `user-agent: GitHubCopilotChat/…`',
    sent: (headers) =>
      (headers['x-interaction-type'] !== undefined && headers['x-initiator'] !== undefined) ||
      beginsWith(headers, 'user-agent', /^GitHubCopilotChat\//),
    session: [
      header('vscode-sessionid'),
      { from: 'the session folder in its instructions', read: sessionFolder },
    ],
    user: [header('vscode-machineid')],
  },
]

/** Identifiers only: what a record holds as a label must not be free text of a client. */
const identifier = /^[\w.:@+/=-]{1,256}$/

/**
 * The labels that a coding agent's call carries in the agent's own headers and body; none of other calls. A
 * few comparisons where it is none.
 */
export function labelsOfCodingAgent(headers: CallHeaders, body: unknown): CodingAgentLabels {
  const agent = codingAgents.find((its) => its.sent(headers))
  if (agent === undefined) return {}
  const first = (sources: readonly LabelSource[]) =>
    sources.map((source) => source.read(headers, body)).find(isIdentifier)
  const [sessionId, userId] = [first(agent.session), first(agent.user)]
  return {
    agent_name: agent.name,
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...(userId === undefined ? {} : { user_id: userId }),
  }
}

function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && identifier.test(value)
}

/** Before version 2.1: `user_<device>_account_<uuid or nothing>_session_<uuid>`. */
const joined = /^user_(?<user>[0-9a-f]+)_account_(?<account>[0-9a-f-]*)_session_(?<session>[0-9a-f-]+)$/

/** A member of the JSON text in `metadata.user_id`. */
function claudeUser(name: string, before: 'user' | 'account' | 'session'): LabelSource {
  return {
    from: `\`${name}\` in \`metadata.user_id\` of the body`,
    read: (_headers, body) => {
      const text = textOf(fieldAt(body, 'metadata', 'user_id'))
      if (text === undefined) return undefined
      return text.startsWith('{') ? fieldAt(parseJson(text), name) : joined.exec(text)?.groups?.[before]
    },
  }
}

const folder = /\/\.copilot\/session-state\/([0-9a-f-]{36})\b/

/** Copilot's CLI sends its session's identifier as the name of a folder only. */
function sessionFolder(_headers: CallHeaders, body: unknown): string | undefined {
  const first = objectOf(listOf(fieldAt(body, 'messages'))[0])
  const texts = [
    fieldAt(body, 'instructions'),
    ...listOf(fieldAt(body, 'system')).map((part) => fieldAt(part, 'text')),
    first?.['role'] === 'system' ? first['content'] : undefined,
  ]
  return texts
    .map((text) => (typeof text === 'string' ? folder.exec(text)?.[1] : undefined))
    .find((found) => found !== undefined)
}

import { describe, expect, test } from '@jest/globals'
import { codingAgents, labelsOfCodingAgent, type CallHeaders } from './coding-agents.ts'

const session = '01a22974-6305-7d00-a417-ac6253fba102'
const installation = '6735edf9-c140-421f-ba9e-8cf9e2255d55'
const device = '81a5532f6ccccfde03f473f04e33e191a14b93ec82381e92351bf0d6553b39ae'
const account = 'df422d3c-1dd3-4ce4-947d-dfa71f342b4f'

const claude = { 'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)', 'x-app': 'cli' }
const claudeBody = (user: string) => ({
  model: 'claude-opus-4-8',
  metadata: { user_id: user },
  messages: [],
})
const codex = {
  originator: 'codex_exec',
  'user-agent': 'codex_exec/0.171.0 (Debian 12.0.0; x86_64) dumb (codex_exec; 0.171.0)',
  'thread-id': session,
}
const gemini = {
  'user-agent': 'GeminiCLI-tui/0.61.0/gemini-2.5-pro (linux; x64; terminal)',
  'x-goog-api-client': 'google-genai-sdk/1.30.0 gl-node/v20.20.2',
  'x-gemini-api-privileged-user-id': installation,
}
const copilot = {
  'user-agent': 'OpenAI/JS 5.20.1',
  'x-initiator': 'user',
  'x-interaction-type': 'conversation-user',
}
const instructions = `You are the GitHub Copilot CLI.\nSession folder: /home/ada/.copilot/session-state/${session}\n`

/** Headers and bodies as the agents sent them, without what names nobody. */
test.each<[string, CallHeaders, unknown, object]>([
  [
    'Claude Code',
    { ...claude, 'x-claude-code-session-id': session },
    claudeBody(JSON.stringify({ device_id: device, account_uuid: account, session_id: session })),
    { agent_name: 'claude-code', session_id: session, user_id: account },
  ],
  [
    'Claude Code without a login',
    { ...claude, 'x-claude-code-session-id': session },
    claudeBody(JSON.stringify({ device_id: device, account_uuid: '', session_id: session })),
    { agent_name: 'claude-code', session_id: session, user_id: device },
  ],
  [
    'Claude Code 1, which joined them',
    claude,
    claudeBody(`user_${device}_account_${account}_session_${session}`),
    { agent_name: 'claude-code', session_id: session, user_id: account },
  ],
  [
    'Claude Code 1 without a login',
    claude,
    claudeBody(`user_${device}_account__session_${session}`),
    { agent_name: 'claude-code', session_id: session, user_id: device },
  ],
  [
    'Claude Code, its body not read',
    { ...claude, 'x-claude-code-session-id': session },
    undefined,
    { agent_name: 'claude-code', session_id: session },
  ],
  [
    'Codex',
    { ...codex, 'session-id': session },
    {
      prompt_cache_key: 'another',
      client_metadata: { session_id: session, 'x-codex-installation-id': installation },
    },
    { agent_name: 'codex', session_id: session, user_id: installation },
  ],
  [
    'Codex of 2025',
    { originator: 'codex_cli_rs', session_id: session },
    { prompt_cache_key: session },
    { agent_name: 'codex', session_id: session },
  ],
  [
    'Codex, by its body alone',
    codex,
    { prompt_cache_key: session },
    { agent_name: 'codex', session_id: session },
  ],
  ['Gemini CLI', gemini, { contents: [] }, { agent_name: 'gemini-cli', user_id: installation }],
  [
    'Copilot CLI, chat completions',
    copilot,
    { messages: [{ role: 'system', content: instructions }] },
    { agent_name: 'copilot', session_id: session },
  ],
  [
    'Copilot CLI, responses',
    copilot,
    { instructions, input: [] },
    { agent_name: 'copilot', session_id: session },
  ],
  [
    'Copilot CLI, messages',
    copilot,
    { system: [{ text: 'You are …' }, { text: instructions }], messages: [] },
    { agent_name: 'copilot', session_id: session },
  ],
  [
    'Copilot in VS Code',
    { 'user-agent': 'GitHubCopilotChat/0.48.0', 'vscode-sessionid': session, 'vscode-machineid': device },
    { messages: [] },
    { agent_name: 'copilot', session_id: session, user_id: device },
  ],
])('%s', (_agent, headers, body, labels) => {
  expect(labelsOfCodingAgent(headers, body)).toEqual(labels)
})

describe('none', () => {
  test.each<[string, CallHeaders, unknown]>([
    ['an application', { 'user-agent': 'OpenAI/JS 6.49.0' }, { prompt_cache_key: session }],
    ['no headers', {}, claudeBody(`user_${device}_account__session_${session}`)],
    ['a name that only holds that of an agent', { 'user-agent': 'my claude-cli/2' }, {}],
    ['a header that came twice', { originator: ['codex_exec', 'codex_exec'] }, {}],
  ])('%s', (_what, headers, body) => {
    expect(labelsOfCodingAgent(headers, body)).toEqual({})
  })

  test.each([
    ['too long', 'x'.repeat(257)],
    ['words', 'the session of Ada'],
    ['empty', ''],
    ['beyond ASCII', 'sé'],
  ])('an identifier that is none: %s', (_what, value) => {
    expect(labelsOfCodingAgent({ ...codex, 'session-id': value }, undefined)).toEqual({ agent_name: 'codex' })
  })

  test.each(['{', '{"session_id":1}', 'user_x_account_y_session_z', '[]'])('a user that is %s', (user) => {
    expect(labelsOfCodingAgent(claude, claudeBody(user))).toEqual({ agent_name: 'claude-code' })
  })
})

test('each agent has a name of its own', () => {
  expect(new Set(codingAgents.map(({ name }) => name)).size).toBe(codingAgents.length)
})

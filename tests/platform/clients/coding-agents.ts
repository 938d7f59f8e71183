import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A command-line client that programs, run once with a question. */
export interface CodingAgentRun {
  title: string
  /** Its upstream, which is in the path. */
  upstream: string
  /** Below `node_modules`. */
  program: string
  args: readonly string[]
  environment: Readonly<Record<string, string>>
  /** Files of its home folder. */
  files?: Readonly<Record<string, string>>
  agentName: string
  provider: string
  model: string
  /** Whether it sends a session and a user of its own accord. */
  names: { session: boolean; user: boolean }
}

const question = 'How is the gate? Answer in one sentence.'
const claude = '@anthropic-ai/claude-code/cli-wrapper.cjs'
const copilot = '@github/copilot/npm-loader.js'

/** The runs, with a gateway at `url` and its key. */
export function codingAgentRuns(url: string, key: string): readonly CodingAgentRun[] {
  const claudeCode = {
    ...{ program: claude, agentName: 'claude-code', provider: 'anthropic', model: 'claude-sonnet-4-5' },
    args: ['-p', question, '--model', 'claude-sonnet-4-5'],
    names: { session: true, user: true },
  }
  return [
    {
      ...claudeCode,
      ...{ title: 'Claude Code with a key', upstream: 'anthropic' },
      environment: { ANTHROPIC_BASE_URL: `${url}/anthropic`, ANTHROPIC_API_KEY: key },
    },
    {
      ...claudeCode,
      ...{ title: "Claude Code with a subscription's own token", upstream: 'subscription' },
      environment: {
        ANTHROPIC_BASE_URL: `${url}/subscription`,
        CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-of-the-user',
        ANTHROPIC_CUSTOM_HEADERS: `X-Service-Key: ${key}`,
      },
    },
    {
      ...{ title: 'Codex', upstream: 'openai', program: '@openai/codex/bin/codex.js' },
      args: ['exec', '--skip-git-repo-check', '--config', `openai_base_url="${url}/openai/v1"`, question],
      environment: { CODEX_API_KEY: key },
      files: { '.codex/config.toml': 'model = "gpt-5-codex"\n' },
      ...{
        agentName: 'codex',
        provider: 'openai',
        model: 'gpt-5-codex',
        names: { session: true, user: true },
      },
    },
    {
      ...{ title: 'Gemini CLI', upstream: 'gemini', program: '@google/gemini-cli/bundle/gemini.js' },
      args: ['--skip-trust', '--model', 'gemini-2.5-pro', '--prompt', question],
      environment: { GOOGLE_GEMINI_BASE_URL: `${url}/gemini`, GEMINI_API_KEY: key },
      files: { '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' },
      ...{ agentName: 'gemini-cli', provider: 'google', model: 'gemini-2.5-pro' },
      names: { session: false, user: true },
    },
    {
      ...{ title: 'Copilot CLI', upstream: 'openai', program: copilot },
      args: ['--prompt', question],
      environment: {
        COPILOT_PROVIDER_BASE_URL: `${url}/openai/v1`,
        COPILOT_PROVIDER_API_KEY: key,
        COPILOT_MODEL: 'gpt-4.1',
        COPILOT_OFFLINE: 'true',
      },
      ...{
        agentName: 'copilot',
        provider: 'openai',
        model: 'gpt-4.1',
        names: { session: true, user: false },
      },
    },
  ]
}

/** A new home for a run: no agent of this machine's user is asked or changed. */
export async function environmentOf(run: CodingAgentRun, home: string): Promise<NodeJS.ProcessEnv> {
  for (const [name, text] of Object.entries(run.files ?? {})) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), text)
  }
  return {
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    ...{ HOME: home, TERM: 'dumb', LANG: 'C.UTF-8' },
    // Nothing but the calls of its model.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...run.environment,
  }
}

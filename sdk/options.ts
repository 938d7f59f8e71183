import type { Session, SluiceOptions } from './types.ts'

/** The options with nothing left open. */
export interface Settings {
  apiKey: string | undefined
  baseUrl: string
  proxyUrl: string | undefined
  proxyApiKey: string | undefined
  session: Session
  beforeSend: SluiceOptions['beforeSend']
  maxQueueBytes: number
  maxBodyBytes: number
}

const mebibyte = 2 ** 20

/** Throws TypeError for an address that is none: a mistake of the program that sets it up, seen at its start. */
export function settle(
  options: SluiceOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Settings {
  const apiKey = given(options.apiKey) ?? given(environment['SERVICE_API_KEY'])
  const proxyUrl = given(options.proxyUrl) ?? given(environment['SERVICE_PROXY_URL'])
  const { agentName, agentTag, sessionId, userId, metadata } = options
  return {
    apiKey,
    baseUrl: address(
      'baseUrl',
      given(options.baseUrl) ?? given(environment['SERVICE_BASE_URL']) ?? 'http://localhost:8000',
    ),
    proxyUrl: proxyUrl === undefined ? undefined : address('proxyUrl', proxyUrl),
    proxyApiKey: given(options.proxyApiKey) ?? given(environment['PROXY_API_KEY']) ?? apiKey,
    session: { agentName, agentTag, sessionId, userId, metadata },
    beforeSend: options.beforeSend,
    maxQueueBytes: options.maxQueueBytes ?? 16 * mebibyte,
    maxBodyBytes: Math.min(options.maxBodyBytes ?? 4 * mebibyte, 4 * mebibyte),
  }
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text
}

function address(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new TypeError(`${name}: expected an http or https address, got ${JSON.stringify(text)}`)
  return text.replace(/\/+$/, '')
}

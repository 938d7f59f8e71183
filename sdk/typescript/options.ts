import type { Session, SluiceOptions } from './types.ts'

/** The options with defaults applied. */
export interface Settings {
  /** Undefined: recording is off, for the reason in `fault`. */
  apiKey: string | undefined
  fault: string | undefined
  baseUrl: string
  proxyUrl: string | undefined
  proxyApiKey: string | undefined
  session: Session
  beforeSend: SluiceOptions['beforeSend']
  maxQueueBytes: number
  maxBodyBytes: number
}

const mebibyte = 2 ** 20

/**
 * Throws TypeError for an invalid address in `options`, a programming error that shows at the start. An
 * invalid address in `environment` only turns recording off, as it must not end the program.
 */
export function settle(
  options: SluiceOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Settings {
  const apiKey = given(options.apiKey) ?? given(environment['SERVICE_API_KEY'])
  const baseUrl = addressOf('baseUrl', options.baseUrl, 'SERVICE_BASE_URL', environment)
  const proxyUrl = addressOf('proxyUrl', options.proxyUrl, 'SERVICE_PROXY_URL', environment)
  const fault = baseUrl.fault ?? proxyUrl.fault ?? (apiKey === undefined ? noKey : undefined)
  const { agentName, agentTag, sessionId, userId, metadata } = options
  return {
    apiKey: fault === undefined ? apiKey : undefined,
    fault,
    baseUrl: baseUrl.url ?? 'http://localhost:8000',
    proxyUrl: proxyUrl.url,
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

const noKey = 'pass apiKey to configure() or set SERVICE_API_KEY'

interface Address {
  url?: string
  fault?: string
}

function addressOf(
  name: string,
  option: string | undefined,
  variable: string,
  environment: Readonly<Record<string, string | undefined>>,
): Address {
  const passed = given(option)
  const text = passed ?? given(environment[variable])
  if (text === undefined) return {}
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return { url: text.replace(/\/+$/, '') }
  const fault = `${passed === undefined ? variable : name}: expected an http or https address, got ${JSON.stringify(text)}`
  if (passed !== undefined) throw new TypeError(fault)
  return { fault }
}

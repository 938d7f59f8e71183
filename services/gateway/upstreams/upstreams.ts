import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '#runtime/errors.ts'
import type { GatewayConfig } from '../config.ts'
import type { UpstreamSecret } from './credentials-schema.ts'
import { findUpstream, type RequestTarget } from './find-upstream.ts'
import { createUpstream, type Upstream, type UpstreamDependencies } from './upstream.ts'
import { readUpstreamsFile, type UpstreamEntry } from './upstreams-file.ts'

export interface Upstreams {
  /** The upstream that takes a request; undefined if none does. */
  find(target: RequestTarget): Upstream | undefined
  /** Ports besides GATEWAY_PORT on which the gateway must listen. */
  readonly ports: readonly number[]
  /** Reads UPSTREAMS_FILE again from time to time. */
  watch(): void
  /** Why the current file is not in use, or null. */
  problem(): string | null
  close(): Promise<void>
}

/** Mounted secrets and ConfigMaps change by a renamed link, which file watching misses on some systems. */
const readEveryMs = 5_000
const retireEveryMs = 1_000

/**
 * The upstreams of UPSTREAMS_FILE, then UPSTREAM_URL for what they leave. An upstream whose entry and secrets
 * stay the same keeps its connections and its queue when the file changes; one that is gone ends its calls.
 * Throws for an invalid file at the start; later such a file leaves the last valid one in use.
 */
export function createUpstreams(dependencies: UpstreamDependencies): Upstreams {
  const { config, environment, metrics, log } = dependencies
  const read = () => readEntries(config, environment)
  let current = read().map((entry) => ({ entry, upstream: createUpstream(entry, dependencies) }))
  let all = current.map(({ upstream }) => upstream)
  const ports = portsOf(current.map(({ entry }) => entry))
  let problem: string | null = null
  let timer: NodeJS.Timeout | undefined
  const retired = createRetired()

  const take = (entries: readonly UpstreamEntry[]) => {
    const before = current
    current = entries.map((entry) => {
      const same = before.find((other) => isDeepStrictEqual(other.entry, entry))
      return same ?? { entry, upstream: createUpstream(entry, dependencies) }
    })
    all = current.map(({ upstream }) => upstream)
    for (const { upstream } of before) if (!all.includes(upstream)) retired.add(upstream)
  }
  const readAgain = () => {
    try {
      const entries = read()
      if (!isDeepStrictEqual(portsOf(entries), ports))
        throw new Error('the ports have changed, which needs a restart')
      const isChanged = !isDeepStrictEqual(
        entries,
        current.map(({ entry }) => entry),
      )
      if (isChanged) {
        take(entries)
        log.info({ upstreams: all.map(({ name }) => name) }, 'the upstreams have changed')
      }
      problem = null
    } catch (error) {
      if (problem !== messageOf(error)) log.error({ err: error }, 'the last valid upstreams stay in use')
      problem = messageOf(error)
    }
    metrics.upstreamsInvalid(problem !== null)
  }
  return {
    find: (target) => findUpstream(all, target),
    ports,
    watch() {
      if (config.UPSTREAMS_FILE === undefined) return
      timer = setInterval(readAgain, readEveryMs).unref()
    },
    problem: () => problem,
    async close() {
      clearInterval(timer)
      await Promise.all([...all, ...retired.all()].map((upstream) => upstream.close()))
    },
  }
}

/** Upstreams that get no further calls; each is closed when its last call has ended. */
function createRetired() {
  const all = new Set<Upstream>()
  return {
    all: () => all,
    add(upstream: Upstream) {
      all.add(upstream)
      const look = setInterval(() => {
        if (!upstream.isIdle()) return
        clearInterval(look)
        all.delete(upstream)
        void upstream.close()
      }, retireEveryMs).unref()
    },
  }
}

function portsOf(entries: readonly UpstreamEntry[]): number[] {
  return [...new Set(entries.flatMap(({ port }) => port ?? []))].sort((a, b) => a - b)
}

function readEntries(config: GatewayConfig, environment: NodeJS.ProcessEnv): UpstreamEntry[] {
  const { UPSTREAMS_FILE: file, UPSTREAM_URL: url } = config
  const ofFile =
    file === undefined ? [] : readUpstreamsFile(file, environment, config.GATEWAY_AUTH === 'project_keys')
  const { UPSTREAM_WEBSOCKETS: websockets } = config
  const last = url === undefined ? [] : [{ name: 'default', url, credentials: ownSecret(config), websockets }]
  return [...ofFile, ...last]
}

/** The credentials for UPSTREAM_URL. */
function ownSecret(config: GatewayConfig): UpstreamSecret | undefined {
  const { UPSTREAM_TOKEN_URL: url, UPSTREAM_API_KEY: key } = config
  if (config.UPSTREAM_AUTH === 'client_credentials' && url !== undefined) {
    const { UPSTREAM_CLIENT_ID: clientId = '', UPSTREAM_CLIENT_SECRET: clientSecret = '' } = config
    return { kind: 'client', url, clientId, clientSecret, scope: config.UPSTREAM_TOKEN_SCOPE }
  }
  return key === undefined ? undefined : { kind: 'key', key, header: config.UPSTREAM_API_KEY_HEADER }
}

import { idFromUuid, type IdKind } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import type { Tier } from '#schemas/tiers.ts'
import { topics } from '#schemas/topics.ts'
import type { ProjectKey } from '#http/access/principal.ts'
import type { Webhook } from '#services/notifier/stores/webhook-rows.ts'
import { writeValue } from '../world/sim-codec.ts'
import { beginningMs, type World } from '../world/world.ts'
import type { ClientCall } from './clients.ts'
import type { SimContext } from './context.ts'
import { urlOf } from './receivers.ts'
import { largeWords, slowWord, unsafeWord } from './scorers.ts'
import { killerMetadata } from './sinks.ts'

export const quotaLimit = 4
const dayMs = 86_400_000

/** An identifier that depends only on the seed. */
export function seededId({ random }: Pick<World, 'random'>, kind: IdKind, timeMs: number): string {
  const time = Math.floor(timeMs).toString(16).padStart(12, '0')
  const digits = (count: number) =>
    Array.from({ length: count }, () => random.below(16).toString(16)).join('')
  return idFromUuid(kind, `${time}7${digits(3)}8${digits(3)}${digits(12)}`)
}

function makeProject(world: World, tier: Tier, zeroContentRetention: boolean): ProjectKey {
  const projectId = seededId(world, 'project', beginningMs - 30 * dayMs)
  return {
    keyId: 'key',
    scope: 'all',
    expiresAtMs: null,
    project: { projectId, tier, zeroContentRetention },
  }
}

/**
 * Three projects: one without a limit and with webhooks, one with a small limit, one with zero content
 * retention.
 */
export function makeProjects(context: SimContext) {
  const { world, database, sealer } = context
  const open = makeProject(world, 'enterprise', false)
  const { projectId } = open.project
  for (const kind of ['quick', 'failing', 'slow', 'dead'] as const) {
    const id = seededId(world, 'webhook', beginningMs - dayMs)
    const secret = sealer.seal(Buffer.from('whsec_c2VjcmV0'), sealedIdentity(projectId, id, 'webhook_secret'))
    database.webhooks.push({
      id,
      projectId,
      url: urlOf(kind),
      events: kind === 'quick' ? ['threat_detected', 'usage_alert'] : ['threat_detected'],
      filters: kind === 'slow' ? { severity: ['critical'] } : {},
      filterExpression: null,
      enabled: true,
      disabledReason: null,
      isFailing: false,
      version: '1',
      secret,
      previousSecret: null,
      kind: 'webhook',
      settings: {},
      credentials: null,
      includeText: true,
      maxPerMinute: null,
    } satisfies Webhook)
  }
  return { open, limited: makeProject(world, 'free', false), private: makeProject(world, 'pro', true) }
}

/**
 * The calls that clients send: some unsafe, some large, some with tools, most of the limited project over its
 * limit. A burst has more unsafe calls, so that notifiers find several events at once.
 */
export function makeCalls(
  context: SimContext,
  projects: ReturnType<typeof makeProjects>,
  isBurst: boolean,
): ClientCall[] {
  const { world } = context
  const { random } = world
  const owners = [projects.open, projects.open, projects.limited, projects.private]
  return Array.from({ length: 8 + random.below(isBurst ? 32 : 8) }, () => {
    const isLate = random.chance(0.1)
    const madeAtMs = beginningMs - (isLate ? random.between(1, 6) * dayMs : random.between(0, 60_000))
    const id = seededId(world, 'request', madeAtMs)
    const size = random.chance(0.3) ? ` ${largeWords} ${random.chance(0.3) ? `${slowWord} ${id}` : ''}` : ''
    const content = (random.chance(isBurst ? 0.8 : 0.3) ? unsafeWord : 'hello') + size
    const tool = random.chance(0.2) ? random.pick(['search', 'mail']) : null
    return {
      id,
      project: random.pick(owners),
      body: {
        model: 'gpt-4o',
        request_body:
          tool === null
            ? { model: 'gpt-4o', messages: [{ role: 'user', content }] }
            : { type: 'mcp_tool_call', tool_name: tool, arguments: { content } },
        response_body: { choices: [] },
      },
      end: 'none' as const,
      answers: 0,
    }
  })
}

/**
 * Hostile records: bytes that are no record, an identifier of another kind, and one that kills its process.
 */
export function sendHostileRecords({ world, cluster }: SimContext, projectId: string): void {
  const topic = topics.requestLogged.name
  const put = (key: string, value: Buffer) => cluster.append({ topic, key, value })
  const { random } = world
  if (random.chance(0.5)) put(seededId(world, 'request', beginningMs), Buffer.from([7, 7, 7]))
  const call = {
    ...{ project_id: projectId, tier: 'enterprise', source: 'gateway', model: 'm', provider: null },
    ...{ agent_name: null, agent_tag: null, session_id: null, user_id: null, type: null, tool_name: null },
    ...{ prompt_tokens: null, completion_tokens: null, cached_tokens: null, reasoning_tokens: null },
    ...{ cost_usd: null, latency_ms: null, time_to_first_token_ms: null, status_code: null, error: null },
    ...{ aborted_by: null, metadata: null, zero_content_retention: false, request_body: null },
    ...{
      response_body: null,
      tool_names: [],
      tool_definitions: [],
      received_at: beginningMs,
      preview: null,
      search: null,
    },
  }
  const encode = (changes: object, key: string) => {
    put(key, writeValue('LlmRequestLogged', { ...call, id: key, ...changes }))
  }
  const keyAt = (timeMs: number) => seededId(world, 'request', timeMs)
  if (random.chance(0.3)) encode({ id: 'not an identifier' }, keyAt(beginningMs))
  if (random.chance(0.3)) encode({}, keyAt(beginningMs - 40 * dayMs))
  if (random.chance(0.2)) encode({ metadata: killerMetadata }, keyAt(beginningMs))
}

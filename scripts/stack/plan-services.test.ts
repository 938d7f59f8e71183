import { expect, test } from '@jest/globals'
import { processNames } from '#schemas/services.ts'
import { planPorts } from './plan-ports.ts'
import { planServices, upstreamUrl, type StackFacts } from './plan-services.ts'

function facts(environment: StackFacts['environment'] = {}): StackFacts {
  return {
    ports: planPorts(100),
    addresses: {
      KAFKA_BROKERS: '127.0.0.1:9192',
      SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8185/apis/ccompat/v7',
      DATABASE_URL: 'postgres://sluice:secret@127.0.0.1:5533/sluice',
    },
    secrets: {
      INTERNAL_API_SECRET: 'internal',
      PROXY_API_KEY: 'proxy',
      SPOOL_KEY: 'spool',
      BODY_ENCRYPTION_KEYS: 'k1:key',
      SEARCH_KEY: 's1:key',
    },
    spoolDirectory: '/state/spool',
    environment,
  }
}

test('every service has the parts, the secrets and ports of its own', () => {
  const { api, consumers, gateway, dashboard } = planServices(facts())
  const plans = [api, ...consumers, gateway('svc_key'), dashboard]
  expect(plans.map(({ name }) => name).sort()).toEqual([...processNames].sort())
  for (const { environment } of plans)
    expect(environment).toMatchObject({ ...facts().addresses, ...facts().secrets })
  expect(new Set(plans.map(({ environment }) => environment['OPS_PORT'])).size).toBe(plans.length)
  expect(api.environment).toMatchObject({ API_PORT: '8100', OPS_PORT: '9100', API_HOST: '127.0.0.1' })
})

test('the notifier has room for what is in flight, unless the user says how much', () => {
  const optionsOf = (environment: StackFacts['environment']) =>
    planServices(facts(environment)).consumers.find(({ name }) => name === 'notifier')?.environment[
      'NODE_OPTIONS'
    ]
  expect(optionsOf({})).toBe('--max-semi-space-size=64')
  expect(optionsOf({ NODE_OPTIONS: '--max-semi-space-size=8' })).toBe(
    '--max-semi-space-size=64 --max-semi-space-size=8',
  )
})

test('the gateway records into the API of its own stack, with the key of its first project', () => {
  const gateway = planServices(facts({ SERVICE_API_KEY: 'of another stack' })).gateway('svc_key')
  expect(gateway.environment).toMatchObject({
    SERVICE_API_KEY: 'svc_key',
    API_BACKEND_URL: 'http://127.0.0.1:8100',
    UPSTREAM_URL: 'http://127.0.0.1:8190',
    SPOOL_DIR: '/state/spool',
    GATEWAY_PORT: '8180',
  })
  expect(planServices(facts({ SERVICE_API_KEY: 'x' })).api.environment).not.toHaveProperty('SERVICE_API_KEY')
})

test('the dashboard speaks for people to the API of its own stack, and every service links to it', () => {
  const { api, consumers, dashboard } = planServices(facts({ API_BACKEND_URL: 'http://elsewhere' }))
  expect(dashboard.environment).toMatchObject({
    API_BACKEND_URL: 'http://127.0.0.1:8100',
    DASHBOARD_PORT: '3100',
    GATEWAY_URL: 'http://localhost:8180',
    DASHBOARD_HOST: '127.0.0.1',
  })
  for (const { environment } of [api, ...consumers, dashboard])
    expect(environment['DASHBOARD_URL']).toBe('http://localhost:3100')
})

test('what the user has set reaches the services', () => {
  const environment = { OPENAI_API_KEY: 'sk', LOG_LEVEL: 'debug', API_HOST: '0.0.0.0', SPOOL_DIR: '/fast' }
  const { api, consumers, gateway } = planServices(facts(environment))
  expect(consumers.find(({ name }) => name === 'scorer')?.environment).toMatchObject({
    OPENAI_API_KEY: 'sk',
    LOG_LEVEL: 'debug',
  })
  expect(api.environment['API_HOST']).toBe('0.0.0.0')
  expect(gateway('k').environment['SPOOL_DIR']).toBe('/fast')
})

test('a secret read from a file is not given twice', () => {
  const { environment } = planServices(facts({ PROXY_API_KEY_FILE: '/run/secrets/proxy' })).api
  expect(environment).not.toHaveProperty('PROXY_API_KEY_FILE')
})

test('the demonstration upstream stands in only where no upstream is named', () => {
  expect(planServices(facts()).demoUpstream?.port).toBe(8190)
  expect(planServices(facts({ UPSTREAM_URL: '' })).demoUpstream).toBeDefined()
  const real = facts({ UPSTREAM_URL: 'https://api.openai.com' })
  expect(planServices(real).demoUpstream).toBeUndefined()
  expect(upstreamUrl(real)).toBe('https://api.openai.com')
})

import { expect, test } from '@jest/globals'
import { parseResources } from './testing/chart-resources.ts'
import { findHelm, renderChart } from './render-chart.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const helm = findHelm(process.env['PATH']) ?? ''
const withHelm = helm === '' ? test.skip : test

withHelm('policies let out to the ports that the values name', async () => {
  const settings = [
    'kafka.brokers=kafka:9094',
    'registryUrl=http://registry:8081/apis',
    'networkPolicy.dataPorts={6432}',
    'dashboard.env.OIDC_ISSUER=https://login.example.com:8443/realms/a',
  ]
  const policies = parseResources(await renderChart(helm, settings)).filter(
    ({ kind }) => kind === 'NetworkPolicy',
  )
  const outOf = (process: string) =>
    policies
      .find(({ metadata }) => metadata.name === `sluice-${process}`)
      ?.spec.egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))
  expect(outOf('sink')).toEqual([53, 53, 9094, 6432, 8081])
  expect(outOf('api')).toEqual([53, 53, 9094, 6432, 8081, 443])
  expect(outOf('dashboard')).toEqual([53, 53, 8000, 8443])
})

withHelm(
  'a broker at an IPv6 address has its port, and nothing of its address, let out; outside is reached over both',
  async () => {
    const settings = [
      'kafka.brokers=[fd00::1]:9093\\,[fd00::22:9094]:9095\\,kafka:9096',
      'registryUrl=http://[fd00::3]:8081/apis',
      'networkPolicy.dataPorts={6432}',
      'networkPolicy.forbidden={169.254.0.0/16,fd00:1::/32}',
    ]
    const policies = parseResources(await renderChart(helm, settings)).filter(
      ({ kind }) => kind === 'NetworkPolicy',
    )
    const egressOf = (process: string) =>
      policies.find(({ metadata }) => metadata.name === `sluice-${process}`)?.spec.egress ?? []
    const ports = egressOf('sink').flatMap((rule) => (rule.ports ?? []).map(({ port }) => port))
    expect(ports).toEqual([53, 53, 9093, 9095, 9096, 6432, 8081])
    expect(egressOf('notifier')).toContainEqual({
      to: [
        { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } },
        { ipBlock: { cidr: '::/0', except: ['fd00:ec2::254/128', 'fd20:ce::254/128', 'fd00:1::/32'] } },
      ],
    })
  },
)

import { expect, test } from '@jest/globals'
import { findHelm, renderChart } from './render-chart.ts'
import { parseResources } from './testing/chart-resources.ts'

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

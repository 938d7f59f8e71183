import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { messageOf } from '#runtime/errors.ts'
import { renderings, type Rendered } from './testing/all-settings.ts'
import { renderChart } from './render-chart.ts'

// scripts/test fetches it first (fetch-helm.ts). Without it these tests are skipped and counted.
const { helm, render } = renderings(process.env['PATH'])
const withHelm = helm === '' ? test.skip : test

withHelm.each([
  ['image.digest=sha256:short', /digest/],
  [
    'podLabels.app\\.kubernetes\\.io/component=x',
    /podLabels: app.kubernetes.io\/component is the chart's own/,
  ],
  ['sink.affinty.a=b', /affinty/],
  ['migrate.sidecars[0].name=a', /sidecars/],
  ['proxy.url=http://user:password@proxy:3128', /url/],
  ['secrets.from.DATABASE_URL.name=a', /key/],
  ['httpRoute.parentRefs=null', /httpRoute.parentRefs: which Gateways/],
  ['backup.image=', /backup.image: which image/],
])('%s is refused', async (setting, message) => {
  await expect(render([setting]).catch(messageOf)).resolves.toMatch(message)
})

withHelm('a proxy is given to those who call outside, and to nobody else', async () => {
  const settings = ['proxy.url=http://proxy:3128', 'proxy.noProxy={.svc,10.0.0.0/8}']
  const text = await renderChart(helm, settings, ['testing/all-settings.yaml'])
  const holders = text.split('\n---').flatMap((one) => {
    if (!one.includes('UPSTREAM_PROXY_URL')) return []
    expect(one).toContain('value: ".svc,10.0.0.0/8"')
    return [(parse(one) as Rendered).metadata.name]
  })
  expect(holders.sort()).toEqual(['gateway', 'notifier', 'redteam', 'scorer'].map((name) => `sluice-${name}`))
})

withHelm('none of it is made unless the values ask for it', async () => {
  const made = new Set((await render([], ['example-values.yaml'])).map(({ kind }) => kind))
  for (const kind of [
    'ServiceAccount',
    'HorizontalPodAutoscaler',
    'HTTPRoute',
    'CronJob',
    'PersistentVolumeClaim',
  ])
    expect(made).not.toContain(kind)
})

test('every setting of a process is in the schema of all of them', () => {
  const schema = JSON.parse(readFileSync(join(import.meta.dirname, 'values.schema.json'), 'utf8')) as {
    definitions: Record<string, { properties: object }>
    properties: Record<string, { properties?: object; $ref?: string }>
  }
  const propertiesOf = (name: string) => {
    const { $ref, properties } = schema.properties[name] ?? {}
    return Object.keys(properties ?? schema.definitions[$ref?.split('/').at(-1) ?? '']?.properties ?? {})
  }
  const common = propertiesOf('redteam')
  expect(common).toContain('initContainers')
  for (const name of ['gateway', 'api', 'sink', 'scorer', 'notifier', 'dashboard'])
    expect({ name, missing: common.filter((one) => !propertiesOf(name).includes(one)) }).toEqual({
      name,
      missing: [],
    })
})

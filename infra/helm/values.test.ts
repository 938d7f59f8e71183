import { expect } from '@jest/globals'
import { parseResources, workloadsOf } from './testing/chart-resources.ts'
import { render, withHelm } from './testing/with-helm.ts'

withHelm('the address of a registry that asks for a password is in the Secret, and in no value', async () => {
  const all = workloadsOf(parseResources(await render(['registryUrl='])))
  const asked = all.flatMap(({ name, container }) =>
    container.env.flatMap(({ name: variable, valueFrom }) =>
      variable === 'SCHEMA_REGISTRY_URL' ? [[name, valueFrom?.secretKeyRef.optional]] : [],
    ),
  )
  expect(asked.sort()).toEqual(['api', 'migrate', 'notifier', 'scorer', 'sink'].map((name) => [name, false]))
  const readable = render(['registryUrl=https://user:password@registry'])
  await expect(readable).rejects.toThrow(/registryUrl/)
})

withHelm('where the cluster gives users out, no pod asks for one', async () => {
  const contexts = async (settings: string[]) =>
    new Set((await render(settings)).match(/runAs\w+: .*|fsGroup: .*/g))
  const always = 'runAsNonRoot: true'
  const own = ['runAsUser: 1000', 'runAsGroup: 1000', 'fsGroup: 1000']
  expect(await contexts([])).toEqual(new Set([always, ...own]))
  expect(await contexts(['userId=null'])).toEqual(new Set([always]))
})

withHelm('no pod is killed before its time to finish is over', async () => {
  const tooSoon = render(['gateway.terminationGracePeriodSeconds=300'])
  await expect(tooSoon).rejects.toThrow(/gateway.terminationGracePeriodSeconds: has to be longer/)
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'

const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string }

const versionIn = (file: string) => (parse(read(file)) as { version: string }).version
const found = (file: string, pattern: RegExp) => pattern.exec(read(file))?.[1]

test.each([
  ['package-lock.json', versionIn('package-lock.json')],
  ['the SDK', versionIn('sdk/typescript/package.json')],
  ['the chart', versionIn('infra/helm/Chart.yaml')],
  ['its image', found('infra/helm/Chart.yaml', /^appVersion: '(.+)'$/m)],
  ['its example', found('infra/helm/example-values.yaml', /tag: ([\d.]+)/)],
  ['the OpenAPI document', found('services/api/service.ts', /apiVersion = '(.+)'/)],
  ['CHANGELOG.md', found('CHANGELOG.md', /^## ([\d.]+)$/m)],
])('%s is of the version in package.json', (_name, stated) => {
  expect(stated).toBe(version)
})

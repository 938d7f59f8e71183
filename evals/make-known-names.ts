import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { packNames } from '#detectors/supply-chain/packed-names.ts'

const usage = `node evals/make-known-names.ts NPM_HIGH_IMPACT_FOLDER TOP_PYPI_PACKAGES.csv
writes detectors/supply-chain/known-names.json: the names of npm's and PyPI's best-known packages
NPM_HIGH_IMPACT_FOLDER: the npm package npm-high-impact, unpacked (MIT)
TOP_PYPI_PACKAGES.csv: hugovk/top-pypi-packages, names by downloads of 30 days`
const [npmNames, pypiNames] = [8_000, 5_000]
const target = path.join(import.meta.dirname, '..', 'detectors', 'supply-chain', 'known-names.json')

const [npmFolder, pypiFile] = process.argv.slice(2)
if (npmFolder === undefined || pypiFile === undefined) {
  console.error(usage)
  process.exit(2)
}

const listIn = (file: string) =>
  Array.from(
    readFileSync(path.join(npmFolder, 'lib', file), 'utf8').matchAll(/^ {2}'([^']+)'/gm),
    ([, name = '']) => name,
  )
// Not its list by dependents: packages that depend on each other for rewards are in it.
const npm = listIn('top-download.js').slice(0, npmNames)
const pypi = readFileSync(pypiFile, 'utf8')
  .split('\n')
  .slice(1, 1 + pypiNames)
  .map((line) => /"([^"]+)"/.exec(line)?.[1]?.toLowerCase() ?? '')
  .filter((name) => name !== '')
const names = {
  npm: packNames(npm.filter((name) => !name.startsWith('@'))),
  npmScopes: packNames(
    npm.filter((name) => name.startsWith('@')).map((name) => name.slice(1).split('/')[0] ?? ''),
  ),
  pypi: packNames(pypi.map((name) => name.replaceAll(/[._]/g, '-'))),
}
writeFileSync(target, `${JSON.stringify(names, null, 2)}\n`)

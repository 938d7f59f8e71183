import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { marker } from './changes.ts'

const root = join(import.meta.dirname, '..', '..')
const folders = '{schemas,services,evals,infra,tests,docs}'

test('nothing that scripts/new wrote is left to fill in', () => {
  const files = globSync([`${folders}/**/*.{ts,md,jsonl,yaml}`, '*.yml'], {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path),
  })
  const left = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    if (!text.includes(marker)) return []
    return text.split('\n').flatMap((line, index) => (line.includes(marker) ? [`${file}:${index + 1}`] : []))
  })
  expect(left).toEqual([])
})

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const folder = join(import.meta.dirname, 'decisions')

test('docs/decisions/README.md lists every decision under its title', () => {
  const pages = globSync('0*.md', { cwd: folder }).sort()
  const titles = pages.map((page) => {
    const [, title] = /^# (.+)\n/.exec(readFileSync(join(folder, page), 'utf8')) ?? []
    return `- [${title ?? ''}](${page})`
  })
  const index = readFileSync(join(folder, 'README.md'), 'utf8')
  expect(index.split('\n').filter((line) => line.startsWith('- '))).toEqual(titles)
})

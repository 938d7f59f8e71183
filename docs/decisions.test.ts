import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs', 'decisions')
const pages = globSync('0*.md', { cwd: folder }).sort()
const textOf = (page: string) => readFileSync(join(folder, page), 'utf8')

const maxWords = 400
const maxColumns = 110
const parts = ['## Context', '## Decision', '## Consequences']

test('docs/decisions/README.md lists every decision under its title', () => {
  const titles = pages.map((page) => {
    const [, title] = /^# (.+)\n/.exec(textOf(page)) ?? []
    return `- [${title ?? ''}](${page})`
  })
  const index = readFileSync(join(folder, 'README.md'), 'utf8')
  expect(index.split('\n').filter((line) => line.startsWith('- '))).toEqual(titles)
})

describe.each(pages)('%s', (page) => {
  const text = textOf(page)
  const lines = text.split('\n')

  test(`has its three parts, at most ${maxWords} words and lines of ${maxColumns} columns`, () => {
    expect(lines.filter((line) => line.startsWith('#')).slice(1)).toEqual(parts)
    expect(text.split(/\s+/).filter((word) => word !== '').length).toBeLessThanOrEqual(maxWords)
    expect(lines.filter((line) => line.length > maxColumns && !line.startsWith('|'))).toEqual([])
  })

  test('names no file that is not there', () => {
    expect(namedFiles(text).filter((name) => !isThere(name))).toEqual([])
  })
})

test('a renamed file is noticed, whether it is named with its folder or not', () => {
  const text =
    'See `runtime/kafka/gone.ts`, `gone.ts`, `node tests/gone.ts --jobs 2`, `errors.ts` and `runtime/kafka`.'
  expect(namedFiles(text).filter((name) => !isThere(name))).toEqual([
    'runtime/kafka/gone.ts',
    'gone.ts',
    'tests/gone.ts',
  ])
})

/** Words in backticks, and in commands there, that name a file or a folder of the repository. */
function namedFiles(text: string): string[] {
  const quoted = Array.from(text.matchAll(/`([^`]+)`/g), ([, words = '']) => words.split(/\s+/)).flat()
  return quoted.filter((word) => /^[\w./-]+$/.test(word) && (hasExtension(word) || isBelowRoot(word)))
}

function hasExtension(word: string): boolean {
  return /[\w-]\.(?:[cm]?[jt]sx?|json|jsonl|md|ya?ml|sql)$/.test(word)
}

function isBelowRoot(word: string): boolean {
  const [first = '', ...rest] = word.split('/')
  return rest.length > 0 && first !== '' && existsSync(join(root, first))
}

/** A file may be named without the folders above it, as long as it has a name of its own. */
function isThere(name: string): boolean {
  if (existsSync(join(root, name))) return true
  const exclude = (path: string) => /(?:^|\/)(?:node_modules|\.\w+)$/.test(path)
  return hasExtension(name) && globSync(`**/${name}`, { cwd: root, exclude }).length > 0
}

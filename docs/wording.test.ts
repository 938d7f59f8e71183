import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'

/**
 * The countable part of how comments and pages read. Each message names file, line and remedy.
 * - Comment and Markdown lines have at most 110 columns. Exceptions: rows of tables, lines with a URL of 60
 *   columns, fences of JSON.
 * - A service's README has at most 40 lines and 350 words, a decision at most 400 words.
 * - Words that the glossary replaced appear in no file name, identifier, comment or prose.
 */
const maxColumns = 110
const longUrl = /https?:\/\/\S{52}/

/** Replaced words that also have a plain meaning. Not checked, like words with a note in brackets. */
const everyday = new Set(['place', 'line', 'room', 'most', 'least', 'leave', 'slots', 'ground', 'stage'])
/** A label of metrics that clients read. */
const publicName = /\bfate: /

/** Not ours to word: data and prompts that models read, generated code, what other programs wrote. */
const unread =
  /^(evals\/(rubrics|datasets\/.*\.jsonl|reports|make-tasks\.ts)|services\/redteam\/(probes\/files|interchange\/fixtures)|.*\.d\.ts$|docs\/glossary\.md$)/

/** Problems that a folder still has. A number may only fall; a folder that is not here has none. */
// prettier-ignore
const remaining: Record<string, number> = {
}

const root = join(import.meta.dirname, '..')
const hash = /\.sh$|^scripts\/[a-z-]+$/
const slashes = /\.(ts|tsx|js|mjs|cjs|css)$/

interface Problem {
  path: string
  line: number
  what: string
}
interface Line {
  number: number
  text: string
  /** The part that people read: a comment, or prose of Markdown, without its code spans. */
  prose: string
  code: string
  /** Whether the limit of columns holds here. */
  isBounded: boolean
}

function linesOf(path: string, text: string): Line[] {
  return text.split('\n').map(path.endsWith('.md') ? markdownReader() : codeReader(path))
}

type Reader = (line: string, index: number) => Line

function markdownReader(): Reader {
  let fence: string | undefined
  return (line, index) => {
    const [, mark] = /^\s*```(\w*)/.exec(line) ?? []
    const isOutside = fence === undefined && mark === undefined
    const isFree = fence === 'json' || /^\s*\|/.test(line)
    if (mark !== undefined) fence = fence === undefined ? mark : undefined
    const prose = isOutside ? line.replaceAll(/\]\([^)]*\)|<!--.*?-->/g, ' ') : ''
    return { number: index + 1, text: line, prose: withoutSpans(prose), code: '', isBounded: !isFree }
  }
}

function codeReader(path: string): Reader {
  const mark = hash.test(path)
    ? /(?:^|\s)#(?!!)/
    : path.endsWith('.sql')
      ? /--/
      : /(?:^|\s)\/\/|(?:^|[\s({,])\/\*/
  let isBlock = false
  return (line, index) => {
    const begin = isBlock ? 0 : line.search(mark)
    const prose = begin < 0 ? '' : line.slice(begin)
    isBlock = (isBlock || /^\W?\/\*/.test(prose)) && !prose.includes('*/')
    const code = begin < 0 ? line : line.slice(0, begin)
    return {
      number: index + 1,
      text: line,
      prose: withoutSpans(prose),
      code: withoutTexts(code),
      isBounded: prose !== '',
    }
  }
}

const withoutTexts = (code: string) => code.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/g, "''")

const withoutSpans = (prose: string) => prose.replaceAll(/`[^`]*`/g, ' ')

const isTooLong = ({ text, isBounded }: Line) => isBounded && text.length > maxColumns && !longUrl.test(text)

interface Term {
  term: string
  /** The replaced word, in its parts: `give back` is `give`, `back`. */
  parts: string[]
}

/** Terms of the glossary by the words that they replace: the table's first and last column. */
function replacedTerms(glossary: string): Term[] {
  return [...glossary.matchAll(/^\| ([^|]+) \|[^|]+\| ([^|]*\S) \|$/gm)].flatMap(
    ([, term = '', words = '']) =>
      words
        .split(', ')
        .filter((word) => word !== 'not' && !word.includes('(') && !everyday.has(word))
        .map((word) => ({ term, parts: partsOf(word) })),
  )
}

/** `giveBack`, `GIVE_BACK` and `give-back` are `give`, `back`. */
function partsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((part) => part !== '')
}

/** Replaced words in a name or sentence, except as part of their own term (`in flight`). */
function replacedIn(name: string, terms: readonly Term[]): Term[] {
  const text = ` ${partsOf(name).join(' ')} `
  return terms.filter(({ term, parts: word }) => {
    const own = partsOf(term)
    const at = own.indexOf(word[0] ?? '')
    const excused = at > 0 ? text.replaceAll(` ${own[at - 1] ?? ''} ${word.join(' ')} `, ' ') : text
    return excused.includes(` ${word.join(' ')} `)
  })
}

function problemsOf(path: string, text: string, terms: readonly Term[]): Problem[] {
  const problems: Problem[] = []
  const say = (line: number, what: string) => problems.push({ path, line, what })
  const sayReplaced = (line: number, name: string) => {
    for (const { term, parts } of replacedIn(name, terms)) say(line, `"${parts.join(' ')}": say "${term}"`)
  }
  // Most lines have none of the words: one search of each instead of splitting all of its names.
  const candidates = new RegExp(terms.map(({ parts }) => parts[0]).join('|'), 'i')
  sayReplaced(1, basename(path))
  const lines = linesOf(path, text)
  for (const line of lines) {
    if (isTooLong(line)) say(line.number, `over ${maxColumns} columns: break the line`)
    if (!candidates.test(line.text)) continue
    sayReplaced(line.number, line.prose)
    for (const [name] of line.code.replace(publicName, '').matchAll(/[\w$]+/g)) sayReplaced(line.number, name)
  }
  const count = text.split(/\s+/).filter((word) => word !== '').length
  const limits = (maxLines: number, maxWords: number) => {
    const height = lines.length - 1
    if (height > maxLines) say(height, `over ${maxLines} lines: shorten, or move to docs/`)
    if (count > maxWords) say(1, `${count} words, over ${maxWords}: shorten, or move to docs/`)
  }
  if (/^services\/[^/]+\/README\.md$/.test(path)) limits(40, 350)
  if (/^docs\/decisions\/\d.*\.md$/.test(path)) limits(Infinity, 400)
  return problems
}

const glossary = readFileSync(join(root, 'docs', 'glossary.md'), 'utf8')
const terms = replacedTerms(glossary)

/** `services/scorer` of `services/scorer/steps/a.ts`, `README.md` of `README.md`. */
function folderOf(path: string): string {
  const parts = path.split('/')
  return parts.slice(0, Math.max(1, Math.min(2, parts.length - 1))).join('/')
}

test('comments and pages are short lines in the words of the glossary', () => {
  const paths = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((path) => slashes.test(path) || hash.test(path) || ['.md', '.sql'].includes(extname(path)))
    .filter((path) => !unread.test(path) && existsSync(join(root, path)))
  expect(paths.length).toBeGreaterThan(500)
  const folders = Map.groupBy(
    paths.flatMap((path) => problemsOf(path, readFileSync(join(root, path), 'utf8'), terms)),
    ({ path }) => folderOf(path),
  )
  const wrong = [...folders]
    .filter(([folder, problems]) => problems.length > (remaining[folder] ?? 0))
    .flatMap(([folder, problems]) => [
      `${folder}: ${problems.length} problems, of which ${remaining[folder] ?? 0} are known`,
      ...problems.map(({ path, line, what }) => `${path}:${line} ${what}`),
    ])
  expect(wrong).toEqual([])
})

describe('what is found', () => {
  const list: Term[] = [
    { term: 'in-flight batch', parts: ['flight'] },
    { term: 'permit', parts: ['give', 'back'] },
  ]
  const long = 'word '.repeat(30)

  test.each([
    ['an identifier', 'a.ts', 'const giveBackAll = 1', ['"give back": say "permit"']],
    ['a comment', 'a.ts', '/**\n * We give back.\n */', ['"give back": say "permit"']],
    ['a file name', 'give-back.ts', '', ['"give back": say "permit"']],
    ['what stands in the term', 'a.md', 'calls in flight', []],
    ['a code span, a fence, a text', 'a.md', '`flight`\n```\nflight\n```', []],
    ['a text', 'a.ts', "const a = 'flight'", []],
    ['a long comment', 'a.sh', `# ${long}`, ['over 110 columns: break the line']],
    ['a long comment behind code', 'a.sql', `select 1 -- ${long}`, ['over 110 columns: break the line']],
    ['a long line of code', 'a.ts', `const a = '${long}'`, []],
    ['a glob is no comment', 'a.ts', `glob('a/*.ts') + '${long}'`, []],
    ['a long line of Markdown', 'a.md', long, ['over 110 columns: break the line']],
    ['a row of a table, a long URL', 'a.md', `| ${long} |\nhttps://a.example/${'b'.repeat(100)}`, []],
    ['a fence of JSON', 'a.md', `\`\`\`json\n${long}\n\`\`\``, []],
    ['a fence of commands', 'a.md', `\`\`\`sh\n${long}\n\`\`\``, ['over 110 columns: break the line']],
    ['a long README', 'services/a/README.md', 'a\n'.repeat(41), ['over 40 lines: shorten, or move to docs/']],
    [
      'a long decision',
      'docs/decisions/0001-a.md',
      'a\n'.repeat(401),
      ['401 words, over 400: shorten, or move to docs/'],
    ],
  ])('%s', (_name, path, text, expected) => {
    expect(problemsOf(path, text, list).map(({ what }) => what)).toEqual(expected)
  })

  test('terms are read from the glossary', () => {
    expect(terms).toContainEqual({ term: 'disposition', parts: ['fate'] })
    expect(terms.length).toBeGreaterThan(10)
  })
})

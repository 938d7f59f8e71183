import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\d\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** The links of a page whose file or heading does not exist. Addresses of other sites are not looked up. */
function brokenLinks(path: string): string[] {
  const prose = read(path).replaceAll(/^\s*```[^]*?^\s*```/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^https?:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#')
      const linked = file === '' ? path : join(dirname(path), file)
      if (!existsSync(join(root, linked))) return true
      return (
        anchor !== undefined &&
        statSync(join(root, linked)).isFile() &&
        !anchorsOf(read(linked)).includes(anchor)
      )
    })
}

test('links between pages lead to files and headings that exist', () => {
  const pages = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)))
  const broken = pages.flatMap((path) => brokenLinks(path).map((target) => `${path}: ${target}`))
  expect(pages.length).toBeGreaterThan(50)
  expect(broken).toEqual([])
})

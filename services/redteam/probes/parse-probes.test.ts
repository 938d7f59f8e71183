import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { builtInScorers, owaspDescriptions } from '#schemas/verdicts.ts'
import { parseProbes } from './parse-probes.ts'
import { ownProbesFolder, readProbes } from './read-probes.ts'

const head =
  'category: LLM01\nscorer: jailbreak_detection\njudged_by: [system_prompt_leakage]\nsource: own\nlicence: MIT\n'
const problemsOf = (text: string) => {
  const parsed = parseProbes(text)
  return parsed.ok ? [] : parsed.problems.map(({ line, reason }) => `${line}: ${reason}`)
}

test('a probe has what its file says of all, and says otherwise where it does', () => {
  const parsed = parseProbes(
    `${head}probes:\n  - {id: a1, prompt: x}\n  - {id: a2, turns: [x, y], licence: CC0-1.0}\n`,
  )
  expect(parsed).toMatchObject({
    ok: true,
    probes: [
      { id: 'a1', turns: ['x'], licence: 'MIT', judged_by: ['system_prompt_leakage'] },
      { id: 'a2', turns: ['x', 'y'], licence: 'CC0-1.0', category: 'LLM01' },
    ],
  })
})

describe('a mistake is told with its line, and refuses the file', () => {
  test.each([
    ['a field that nobody knows', `${head}probes:\n  - id: a1\n    promt: x\n`, '7: '],
    ['neither prompt nor turns', `${head}probes:\n  - {id: a1}\n`, '7: needs either prompt or turns'],
    ['both', `${head}probes:\n  - {id: a1, prompt: x, turns: [a, b]}\n`, '7: needs either prompt or turns'],
    [
      'an id twice',
      `${head}probes:\n  - {id: a1, prompt: x}\n  - {id: a1, prompt: y}\n`,
      '8: id: a1 is taken by line 7',
    ],
    ['an unknown category', `category: LLM11\nprobes:\n  - {id: a1, prompt: x}\n`, '1: category'],
    ['no licence', head.replace('licence: MIT\n', '') + 'probes:\n  - {id: a1, prompt: x}\n', '6: licence'],
    ['no list', head, '1: expected an object with a list `probes`'],
    ['no YAML', 'probes: [', '1: '],
    ['a probe that is none', `${head}probes:\n  - 7\n`, '7: '],
  ])('%s', (_name, text, expected) => {
    expect(problemsOf(text).join('\n')).toContain(expected)
  })

  test('several at once', () => {
    expect(
      problemsOf(`${head}probes:\n  - {id: A, prompt: x}\n  - {id: b1, tools: [rm], prompt: x}\n`),
    ).toHaveLength(2)
  })
})

test('ours: at least 200, of every category and for every scorer, each with source and licence', () => {
  const probes = [...readProbes([ownProbesFolder]).probes.values()]
  expect(probes.length).toBeGreaterThanOrEqual(200)
  expect(new Set(probes.map(({ category }) => category))).toEqual(new Set(Object.keys(owaspDescriptions)))
  expect(new Set(probes.map(({ scorer }) => scorer))).toEqual(new Set(builtInScorers))
  expect(new Set(probes.map(({ turns }) => turns.join('\n'))).size).toBe(probes.length)
})

test('a place that cannot be read is named', () => {
  expect(() => readProbes(['/nowhere.yaml'])).toThrow(/^\/nowhere\.yaml cannot be read: .*ENOENT/)
})

test('so is a file of a folder: the run fails, and not the process with all runs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'probes-'))
  const file = join(folder, 'gone.yaml')
  symlinkSync('/nowhere.yaml', file)
  try {
    expect(() => readProbes([folder])).toThrow(
      expect.objectContaining({
        code: 'PROBES_INVALID',
        message: expect.stringContaining(`${file} cannot be read: `),
      }),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})

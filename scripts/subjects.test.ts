import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'

const long = 'ß'.repeat(73)
let clone: string

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'sluice-subjects-'))
  mkdirSync(join(clone, 'scripts'))
  copyFileSync(join(import.meta.dirname, 'subjects'), join(clone, 'scripts', 'subjects'))
})

afterEach(() => rmSync(clone, { recursive: true }))

const isolated = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', PATH: process.env['PATH'] }
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    cwd: clone,
    env: isolated,
    stdio: 'pipe',
  })
const commit = (subject: string, ...more: string[]) =>
  git('commit', '--quiet', '--allow-empty', '-m', subject, ...more)

function subjects(args: string[] = [], path = process.env['PATH']) {
  const { status, stderr } = spawnSync('/bin/bash', [join(clone, 'scripts', 'subjects'), ...args], {
    cwd: clone,
    env: { ...isolated, PATH: path },
    encoding: 'utf8',
  })
  return { status, stderr }
}

test.each([
  ['Store a call once', 0],
  [long.slice(1), 0],
  [long, 1],
  ['Store a call once.', 1],
  [`Merge branch ${'x'.repeat(80)}`, 0],
])('the message "%s" ends with %d', (subject, status) => {
  writeFileSync(
    join(clone, 'message'),
    `\n# a comment that is long enough to be refused if it were taken for the subject\n${subject}\n\nBody.\n`,
  )
  expect(subjects(['message']).status).toBe(status)
})

test('of a branch, what came since main is looked at', () => {
  git('init', '--quiet', '--initial-branch=main')
  commit(long)
  expect(subjects()).toEqual({ status: 0, stderr: '' })
  git('checkout', '--quiet', '-b', 'branch')
  commit('Store a call once')
  expect(subjects()).toEqual({ status: 0, stderr: '' })
  commit('Store a call twice.')
  expect(subjects()).toEqual({ status: 1, stderr: 'the subject ends with a period: Store a call twice.\n' })
})

test('without main the last tag is taken, and without either nothing is', () => {
  git('init', '--quiet', '--initial-branch=other')
  commit(long)
  expect(subjects().status).toBe(0)
  git('tag', 'v1')
  expect(subjects().status).toBe(0)
  commit(long)
  expect(subjects().status).toBe(1)
})

test('where there is no repository, or no git, it passes', () => {
  expect(subjects()).toEqual({ status: 0, stderr: '' })
  expect(subjects(['--install'])).toEqual({ status: 0, stderr: '' })
  git('init', '--quiet')
  const bare = join(clone, 'bin')
  mkdirSync(bare)
  execFileSync('ln', ['-s', '/usr/bin/dirname', bare])
  expect(subjects([], bare)).toEqual({ status: 0, stderr: '' })
})

test('the hook refuses a commit, and leaves a hook that is there alone', () => {
  git('init', '--quiet', '--initial-branch=main')
  const hook = join(clone, '.git', 'hooks', 'commit-msg')
  expect(subjects(['--install']).status).toBe(0)
  expect(existsSync(hook)).toBe(true)
  commit('Store a call once')
  expect(() => commit('Store a call twice.')).toThrow('the subject ends with a period')
  writeFileSync(hook, '#!/bin/sh\nexit 0\n')
  expect(subjects(['--install']).status).toBe(0)
  commit('Store a call twice.')
})

test('a hooks path of the user stays the only one', () => {
  git('init', '--quiet')
  git('config', 'core.hooksPath', 'elsewhere')
  expect(subjects(['--install']).status).toBe(0)
  expect(existsSync(join(clone, 'elsewhere'))).toBe(false)
})

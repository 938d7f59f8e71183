import { expect, test } from '@jest/globals'
import { goToChoices } from './go-to-choices.ts'
import type { PageEntry } from './page-entry.ts'

const load = () => Promise.reject(new Error('not opened'))
const pages: PageEntry[] = [
  { path: '/', title: 'Home', section: 'Watch', load },
  { path: '/requests/$id', title: 'Request', load },
  { path: '/settings/keys', title: 'API keys', section: 'Settings', role: 'admin', load },
]
const projects = [{ id: 'prj_1', name: 'Web shop' }]
const labelsOf = (typed: string, role: 'viewer' | 'admin' = 'admin') =>
  goToChoices(typed, { role, projects }, pages).map(({ label }) => label)

test.each([
  ['nothing: pages and projects', '', ['Home', 'API keys', 'Web shop']],
  ['part of a name', ' KEY ', ['API keys', 'Session “KEY”']],
  ['a project', 'shop', ['Web shop', 'Session “shop”']],
  ['a project by its id', 'prj_1', ['Web shop', 'Session “prj_1”']],
])('%s', (_name, typed, labels) => expect(labelsOf(typed)).toEqual(labels))

test('an id leads to its page, and is first', () => {
  const id = 'req_01h455vb4pex5vsknk084sn02q'
  expect(goToChoices(id, { role: 'viewer', projects }, pages)[0]).toMatchObject({ path: `/requests/${id}` })
})

test('pages that are refused are not offered', () => {
  expect(labelsOf('key', 'viewer')).toEqual(['Session “key”'])
})

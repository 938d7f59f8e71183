import type { Person } from '../api/session.ts'
import { toVisibleText } from '../formats/visible-text.ts'
import { mayVisit, type PageEntry } from './page-entry.ts'

/** A place to go to. `project`: its home. */
export interface GoToChoice {
  label: string
  kind: 'Page' | 'Project' | 'Id' | 'Session'
  path?: string
  project?: string
}

/** Pages that an id alone leads to. */
const pagesOfIds = { req: ['Request', '/requests/'], fnd: ['Finding', '/findings/'] } as const
/** As many as need no scrolling. */
const maxShown = 10

/** What a typed text leads to: the id or session that it is, then pages and projects whose names have it. */
export function goToChoices(
  typed: string,
  { role, projects }: Pick<Person, 'role' | 'projects'>,
  pages: readonly PageEntry[],
): GoToChoice[] {
  const text = typed.trim()
  const wanted = text.toLowerCase()
  const has = (name: string) => name.toLowerCase().includes(wanted)
  const named = [
    ...pages
      .filter((page) => page.section !== undefined && mayVisit(role, page) && has(page.title))
      .map(({ title, path }) => ({ label: title, kind: 'Page' as const, path })),
    ...projects
      .filter(({ id, name }) => has(name) || id === text)
      .map(({ id, name }) => ({ label: toVisibleText(name), kind: 'Project' as const, project: id })),
  ].slice(0, maxShown)
  return [...choiceOfId(text), ...named, ...choiceOfSession(text)]
}

function choiceOfId(text: string): GoToChoice[] {
  const [, prefix = ''] = /^([a-z]{3})_[0-9a-z]{26}$/.exec(text) ?? []
  if (!Object.hasOwn(pagesOfIds, prefix)) return []
  const [name, path] = pagesOfIds[prefix as keyof typeof pagesOfIds]
  return [{ label: `${name} ${text}`, kind: 'Id', path: path + text }]
}

function choiceOfSession(text: string): GoToChoice[] {
  if (text === '') return []
  const path = `/sessions/${encodeURIComponent(text)}`
  return [{ label: `Session “${toVisibleText(text)}”`, kind: 'Session', path }]
}

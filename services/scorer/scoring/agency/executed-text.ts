/** Commands that print, look for or record their arguments. */
const speaks =
  /^[\s(]{0,20}(?:(?:sudo|time|command)\s{1,4})?(?:echo|printf|(?:e|f|z|r)?grep|rg|ag|ack|man|less|cat|head|tail|wc|awk|sed|shellcheck|tldr|#|\/\/|git\s{1,4}(?:-\S{1,80}\s{1,4}){0,3}(?:commit|log|grep|show|tag|notes|blame|diff)\b|gh\s{1,4}(?:issue|pr|gist)\b|(?:console\.\w{1,10}|print|logg(?:er|ing)\.\w{1,10}|log)\s?\()/
/** What tries and does nothing. */
const onlyTries =
  /\s(?:--dry-?run|--dryrun|--what-?if|-WhatIf|--help|--noop|--no-act|--simulate)\b(?!=(?:false|none)\b)|\bgit\s{1,4}clean\s{1,4}-[a-z]{0,4}n|\brsync\s{1,4}-[a-zA-Z]{0,6}n/
/** What a printing command may carry out all the same: substitutions, calls of programs, files that it overwrites. */
const carriesOutInside =
  /\$\(|`|>\s{0,4}\/|\b(?:system|run|call|popen|exec\w{0,8}|check_\w{1,8}|spawn\w{0,6})\s?\(/i
/** Where what is printed goes to be carried out. */
const carriesOut =
  /\|\s{0,4}(?:sudo\s{1,4})?(?:(?:ba|z|da|k)?sh|xargs|parallel|ssh|at|python3?|node|perl|ruby|php|psql|mysql|sqlite3|mongosh?|redis-cli|kubectl|docker|iex)\b/i

/**
 * A command line with blanks in place of the commands that only print, look for or try something: what they quote nobody carries out. The same
 * length, so that places stay what they are.
 */
export function executedText(text: string): string {
  const parts: string[] = []
  for (const { start, end, rest } of simpleCommands(text)) {
    const command = text.slice(start, end)
    const isQuoted = speaks.test(command) && !carriesOutInside.test(command) && !carriesOut.test(rest)
    parts.push(isQuoted || onlyTries.test(command) ? ' '.repeat(command.length) : command)
  }
  return parts.join('')
}

/** How far the rest of a pipe is looked at. */
const pipeUnits = 300

/** Pieces of a command line between `;`, `&`, `|` and line ends that no quotes hold; the separator is the piece's last character. */
function* simpleCommands(text: string): Generator<{ start: number; end: number; rest: string }> {
  const closes = new Map([
    ["'", text.lastIndexOf("'")],
    ['"', text.lastIndexOf('"')],
  ])
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const sign = text.charAt(at)
    if (sign === '\\') at += 1
    else if ((closes.get(sign) ?? -1) > at) at = text.indexOf(sign, at + 1)
    else if (sign === '' || ';&|\n'.includes(sign)) {
      const end = Math.min(text.length, at + 1)
      const rest = sign === '|' ? (text.slice(at, at + pipeUnits).split(/[;\n]/)[0] ?? '') : ''
      if (end > start) yield { start, end, rest }
      start = end
    }
  }
  if (start < text.length) yield { start, end: text.length, rest: '' }
}

const beginsAsSql =
  /^\s{0,20}(?:--|\/\*|\((?=\s{0,4}select)|select|insert|update|delete|with|create|alter|drop|truncate|begin|explain|merge|grant|revoke|show|use|set|declare|exec)\b|^\s{0,20}(?:--|\/\*)/i

const beginsAsOther = /^(?:match|optional|call|unwind|detach|start|do|if|copy)\b/i
/** What breaks out of a literal goes on so. */
const secondStatement = /;\s{0,20}(?:drop|delete|truncate|alter|update|grant)\b/i

/** Whether a text is a statement of a data base's language, where it may be words that are searched for. */
export function isStatement(text: string): boolean {
  const begins = text.replace(/^[\s(;]{1,20}/, '')
  return beginsAsSql.test(begins) || beginsAsOther.test(begins) || secondStatement.test(text)
}

/** A query with blanks in place of its comments, and of its literals where the whole text is a query. The same length. */
export function executedSql(text: string): string {
  const code = withoutBlocks(text)
  if (!beginsAsSql.test(text)) return code
  // Short ones are what conditions compare.
  return code.replace(/--[^\n]{0,2000}|'[^'\n]{4,2000}'/g, blank)
}

/** One look at each unit: a pattern would look on from each of a million openings. */
function withoutBlocks(text: string): string {
  const parts: string[] = []
  let from = 0
  for (let open = text.indexOf('/*'); open !== -1; open = text.indexOf('/*', from)) {
    const close = text.indexOf('*/', open + 2)
    if (close === -1) break
    parts.push(text.slice(from, open), blank(text.slice(open, close + 2)))
    from = close + 2
  }
  return parts.join('') + text.slice(from)
}

function blank(text: string): string {
  return ' '.repeat(text.length)
}

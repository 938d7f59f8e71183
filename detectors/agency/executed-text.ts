import { findMatches } from '../find-matches.ts'

/** Commands that print, search or record their arguments. */
const speaks =
  /^[\s(]{0,20}(?:(?:sudo|time|command)\s{1,4})?(?:echo|printf|(?:e|f|z|r)?grep|rg|ag|ack|man|less|cat|head|tail|wc|awk|sed|shellcheck|tldr|#|\/\/|git\s{1,4}(?:-\S{1,80}\s{1,4}){0,3}(?:commit|log|grep|show|tag|notes|blame|diff)\b|gh\s{1,4}(?:issue|pr|gist)\b|(?:console\.\w{1,10}|print|logg(?:er|ing)\.\w{1,10}|log)\s?\()/
/** Dry runs. */
const onlyTries =
  /\s(?:--dry-?run|--dryrun|--what-?if|-WhatIf|--help|--noop|--no-act|--simulate)\b(?!=(?:false|none)\b)|\bgit\s{1,4}clean\s{1,4}-[a-z]{0,4}n|\brsync\s{1,4}-[a-zA-Z]{0,6}n/
/** What a printing command may still execute: substitutions, program calls, overwritten files. */
const carriesOutInside =
  /\$\(|`|>\s{0,4}\/|\b(?:system|run|call|popen|exec\w{0,8}|check_\w{1,8}|spawn\w{0,6})\s?\(/i
/** Printed text that is piped to an interpreter. */
const carriesOut =
  /\|\s{0,4}(?:sudo\s{1,4})?(?:(?:ba|z|da|k)?sh|xargs|parallel|ssh|at|python3?|node|perl|ruby|php|psql|mysql|sqlite3|mongosh?|redis-cli|kubectl|docker|iex)\b/i

/**
 * A command line with the commands that only print, search or dry-run replaced by blanks: what they quote is
 * not executed. Keeps the length, so offsets hold.
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

/** Commands that only print or search. Unlike those of `speaks`, none reads a file out. */
const onlySpeaks =
  /^[\s(]{0,20}(?:(?:sudo|time|command)\s{1,4})?(?:echo|printf|rg|ag|ack|man|shellcheck|tldr|#|\/\/|git\s{1,4}(?:-\S{1,80}\s{1,4}){0,3}(?:commit|log|grep|show|tag|notes|blame|diff)\b|gh\s{1,4}(?:issue|pr|gist)\b|(?:console\.\w{1,10}|print|logg(?:er|ing)\.\w{1,10}|log)\s?\()/
/** Printed text that reaches a file of the system or of a person, or another program. */
const printsInto = /\$\(|`|>\s{0,4}["']?[/~$]|\/dev\/(?:tcp|udp)|\b(?:system|run|popen|exec\w{0,8})\s?\(/i
const hands =
  /\|\s{0,4}(?:\{\s{0,4})?(?:(?:sudo|nohup|env|timeout \d\w{0,4})\s{1,4}(?:-\S{1,4}\s{1,4})?)?(?:(?:ba|z|da|k)?sh|xargs|parallel|ssh|at|python3?|node|perl|ruby|php|osascript|crontab|tee|nc|ncat|netcat|telnet|socat|curl|mail|chpasswd|passwd|openssl|gpg|base64|xxd|dd|sudo|launchctl|docker|kubectl|iex)\b/i
/** Each is searched for its end. */
const maxDocuments = 20
/** A heredoc into a document. */
const heredoc =
  /<<-?\s{0,2}["']?(\w{1,30})["']?\s{0,4}>{1,2}\s{0,4}\S{1,200}\.(?:md|rst|txt|adoc|html?|json)\b[^\n]{0,20}\n|>{1,2}\s{0,4}\S{1,200}\.(?:md|rst|txt|adoc|html?|json)\s{1,4}<<-?\s{0,2}["']?(\w{1,30})["']?[^\n]{0,20}\n/g

/**
 * A command line without what is only printed, searched for or written into a document. Keeps the length.
 * Commands that read a file stay, as reading may be the point.
 */
export function carriedOutText(text: string): string {
  const parts: string[] = []
  const read = withoutDocuments(text)
  for (const { start, end, rest } of simpleCommands(read)) {
    const command = read.slice(start, end)
    const isQuoted = onlySpeaks.test(command) && !printsInto.test(command) && !hands.test(rest)
    parts.push(isQuoted || onlyTries.test(command) ? blank(command) : command)
  }
  return parts.join('')
}

function withoutDocuments(text: string): string {
  if (!text.includes('<<')) return text
  let [read, from] = ['', 0]
  for (const opening of findMatches(text, heredoc, maxDocuments)) {
    const start = opening.index + opening[0].length
    const close = text.indexOf(`\n${opening[1] ?? opening[2] ?? ''}`, start - 1)
    if (start < from || close === -1) continue
    read += text.slice(from, start) + blank(text.slice(start, close))
    from = close
  }
  return read + text.slice(from)
}

/** How much of the rest of a pipe is checked. */
const pipeUnits = 300

/** Splits a command line at unquoted `;`, `&`, `|` and line ends. Each piece ends with its separator. */
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
/** How a text continues that breaks out of a literal. */
const secondStatement = /;\s{0,20}(?:drop|delete|truncate|alter|update|grant)\b/i

/** True for an SQL statement, as opposed to words to search for. */
export function isStatement(text: string): boolean {
  const begins = text.replace(/^[\s(;]{1,20}/, '')
  return beginsAsSql.test(begins) || beginsAsOther.test(begins) || secondStatement.test(text)
}

/** A query with comments blanked, and literals too if all of the text is a query. Keeps the length. */
export function executedSql(text: string): string {
  const code = withoutBlocks(text)
  if (!beginsAsSql.test(text)) return code
  // Conditions compare short literals.
  return code.replace(/--[^\n]{0,2000}|'[^'\n]{4,2000}'/g, blank)
}

/** One pass: a pattern would rescan from each of a million openings. */
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

import { findGated } from '../gate/gated-pattern.ts'
import type { WordStarts } from '../gate/word-starts.ts'
import type { Destructive } from './destructions.ts'
import { any, autostartFile, type OverreachKind } from './overreach.ts'

const raw = String.raw
/** Shell start-up files. Setting a path or loading a tool's own hooks there is routine. */
const startupFile = raw`(?:(?:~|\$HOME|/root|/home/\w{1,30}|/Users/\w{1,30}|/etc)/\.?(?:bash_profile|bash_login|bashrc|bash_logout|zshrc|zshenv|zprofile|zlogin|profile|xinitrc|xprofile|bash\.bashrc|rc\.(?:common|local)|csh\S{0,6}|config/fish/config\.fish|profile\.d/\S{1,40}))\b`
const files = [
  { kind: 'persists', value: 4, pattern: any(autostartFile) },
  { kind: 'persists', value: 4, pattern: any(startupFile), isStartup: true },
  {
    kind: 'raises_privileges',
    value: 5,
    pattern: any(raw`/etc/(?:sudoers\S{0,40}|passwd\b|shadow\b|group\b|doas\.conf)`),
  },
  {
    kind: 'disables_protection',
    value: 4,
    pattern: any(
      raw`/etc/(?:hosts(?!\S)|resolv\.conf|resolver/\S{1,40}|dnsmasq\.conf|pf\.conf|selinux/config)`,
    ),
  },
] as const satisfies readonly { kind: OverreachKind; value: 4 | 5; pattern: unknown; isStartup?: true }[]

/** Everyday lines of start-up files: paths, prompts, aliases, completions. */
const routine =
  /\becho\s+(?:-e\s+)?["']?\s*(?:\\n)?(?:export\s+(?:[A-Z_]{0,30}PATH|[A-Z]{1,30}_(?:HOME|ROOT|DIR|OPTS|OPTIONS)|EDITOR|LANG|PS1|NODE_\w{1,20}|JAVA_\w{1,20}|GO\w{0,20}|[A-Z]{1,30}_ENV)=(?![^\n>]{0,200}(?:\/tmp\/|\/\.))|PATH=|eval\s+"?\\?\$\((?!curl|wget)[\w./]{1,80}\s+(?:init|env|hook|shellenv|virtualenv-init)|source\s+(?!\/tmp)[^\n]{0,80}(?:completion|nvm|asdf|env|cargo|fzf|git-prompt)|alias\s+(?!sudo|ssh|ls=["']?[^"']{0,80}(?:curl|;|&))\w{1,30}=["']?\w[\w ./-]{0,80}["']?\s{0,4}["']?\s{0,4}>|setopt|autoload|set -o|#|plugins=|ZSH_THEME)/i

const maxHits = 20
const lineUnits = 320
/** The start of a path that ends in what was found, and an opening quote. */
const startOfPath = /["']?[\w./~${}-]{0,80}$/

/** Commands that write to files which programs run, trust or obey. */
export function findWrittenFiles(text: string, starts: WordStarts): Destructive[] {
  return files.flatMap((file) =>
    findGated(text, starts, file.pattern, maxHits).flatMap(({ 0: path, index }) => {
      const line =
        text
          .slice(Math.max(0, index - lineUnits), index)
          .split('\n')
          .at(-1) ?? ''
      const isRoutine = 'isStartup' in file && routine.test(`${line}${path}`)
      if (isRoutine || !isWritten(line.replace(startOfPath, ''))) return []
      return [{ kind: file.kind, value: file.value, start: index, end: index + path.length }]
    }),
  )
}

/** Whether what stands before a path writes there. */
function isWritten(before: string): boolean {
  const command = before.split(/;|&&|\|\|/).at(-1) ?? ''
  const last = command.split('|').at(-1) ?? ''
  return (
    />{1,2}\s{0,3}$/.test(last) ||
    /\btee\s(?:-a\s|--append\s)?\s?$/.test(last) ||
    /\b(?:cp|mv|ln|install|rsync)\s[^\n]{1,200}\s$/.test(last) ||
    /\bof=$|\b(?:curl|wget)\s[^\n]{0,200}\s-\w{0,4}[oO]\s?$/.test(last) ||
    (/\bsed\s/.test(command) && /\s(?:-\w{0,3}i|--in-place)/.test(command))
  )
}

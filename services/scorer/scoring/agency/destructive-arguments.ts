/** One way of destroying or giving away what cannot be got back. Patterns are global, with bounded repetitions only. */
interface Destruction {
  kind: string
  /** 4, or 5 where nothing is left. */
  value: 4 | 5
  pattern: RegExp
}

const destructions: readonly Destruction[] = [
  {
    kind: 'deletes_everything',
    value: 5,
    pattern:
      /\brm\s+(?:-{1,2}[\w-]{1,20}\s+){0,4}-(?:[a-z]*r[a-z]*f|[a-z]*f[a-z]*r)[a-z]*\s+(?:-{1,2}[\w-]{1,20}\s+){0,4}["']?(?:\/(?:\*|etc|usr|var|home|root|boot|bin|lib|opt)?\/?\*?(?=["'\s;&|]|$)|~\/?(?=["'\s;&|]|$)|\$HOME\/?(?=["'\s;&|]|$)|\*)/gi,
  },
  {
    kind: 'deletes_files',
    value: 4,
    pattern:
      /\brm\s+(?:-{1,2}[\w-]{1,20}\s+){0,4}-(?:[a-z]*r[a-z]*f|[a-z]*f[a-z]*r)[a-z]*\s+["']?(?!(?:\.\/)?(?:node_modules|dist|build|target|out|coverage|__pycache__|\.cache|tmp|\/tmp)\b)[\w./~$*-]/gi,
  },
  {
    kind: 'overwrites_device',
    value: 5,
    pattern:
      /\bdd\b[^\n]{0,100}\bof=\/dev\/(?:sd|nvme|hd|vd|disk)|\bmkfs(?:\.\w{1,10})?\s+[^\n]{0,60}\/dev\/|>\s*\/dev\/(?:sd|nvme|hd|vd)[a-z0-9]|:\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:/gi,
  },
  {
    kind: 'drops_data',
    value: 5,
    pattern:
      /\bdrop\s+(?:database|schema)\s+(?!if\s+exists\s+(?:test|tmp))[\w"'`.[\]]|\bdropDatabase\s*\(|\bflushall\b/gi,
  },
  {
    kind: 'drops_data',
    value: 4,
    pattern:
      /\b(?:drop|truncate)\s+table\s+(?:if\s+exists\s+)?(?!(?:tmp|temp|test)_)[\w"'`.[\]]|\btruncate\s+(?!table\b|-|to\b|the\b)[a-z_][\w.]{0,60}\s*(?:;|cascade)/gi,
  },
  {
    kind: 'changes_every_row',
    value: 4,
    pattern:
      /\bdelete\s+from\s+[\w"'`.[\]]{1,100}\s*(?:;|$)|\bdelete\s+from\s+[\w"'`.[\]]{1,100}\s+where\s+(?:1\s*=\s*1|true)\b|\bupdate\s+[\w"'`.[\]]{1,100}\s+set\s+[^;]{1,300}\bwhere\s+(?:1\s*=\s*1|true)\b/gi,
  },
  {
    kind: 'rewrites_history',
    value: 4,
    pattern: /\bgit\s+push\s+[^\n;|&]{0,80}(?:--force(?!-with-lease)\b|\s-f\b)[^\n;|&]{0,80}/gi,
  },
  {
    kind: 'tears_down',
    value: 5,
    pattern:
      /\bterraform\s+destroy\b[^\n]{0,60}-auto-approve|\bkubectl\s+delete\s+(?:ns|namespaces?|pvc?|all)\b|\baws\s+s3\s+(?:rb\s+[^\n]{0,80}--force|rm\s+[^\n]{0,80}--recursive)|\baws\s+rds\s+delete-db|\bgcloud\s+projects\s+delete\b|\bdocker\s+system\s+prune\s+[^\n]{0,20}-a/gi,
  },
  {
    kind: 'opens_permissions',
    value: 4,
    pattern:
      /\bchmod\s+(?:-R\s+)?(?:0?777|a\+rwx)\s+\/|\bgrant\s+all\b[^\n;]{0,100}\bto\s+(?:public|'?%'?)|\bchown\s+-R\s+\S{1,40}\s+\/(?:\s|$)/gi,
  },
  {
    kind: 'hides_traces',
    value: 4,
    pattern:
      /\bhistory\s+-c\b|\brm\s+[^\n]{0,30}(?:\.bash_history|\/var\/log)|\bshred\s+-|\bvssadmin\s+delete\s+shadows\b|\bwevtutil\s+cl\b/gi,
  },
]

export interface Destructive {
  kind: string
  value: number
  start: number
  end: number
}

/** Destructive commands and queries in a text. */
export function findDestructive(text: string): Destructive[] {
  return destructions.flatMap(({ kind, value, pattern }) =>
    text
      .matchAll(pattern)
      .take(20)
      .map((match) => ({ kind, value, start: match.index, end: match.index + match[0].length }))
      .toArray(),
  )
}

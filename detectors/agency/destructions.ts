import { gatePattern, type GatedPattern } from '../gate/gated-pattern.ts'
import { judgeRemoval, removal } from './removed-paths.ts'

/** One way to destroy or give away what cannot be recovered. Patterns: global, bounded repetitions. */
export interface Destruction {
  kind: string
  /** 4, or 5 if nothing is left. A function where that depends on the match; 0 means harmless. */
  value: 4 | 5 | ((match: string) => 0 | 4 | 5)
  pattern: GatedPattern
}

/** A place where arguments destroy, or reach too far. */
export interface Destructive {
  kind: string
  value: number
  start: number
  end: number
}

const any = (...sources: readonly string[]) => gatePattern(new RegExp(sources.join('|'), 'gi'))
const raw = String.raw
const rest = raw`[^\n;|&]{0,120}`

/** Shell commands, and those of programs that shells start. */
export const commandDestructions: readonly Destruction[] = [
  { kind: 'deletes_files', value: judgeRemoval, pattern: gatePattern(removal) },
  {
    kind: 'deletes_files',
    value: 4,
    pattern: any(
      raw`\bxargs\b[^\n;|&]{0,60}\brm\b`,
      raw`\bfd\b[^\n;|&]{0,80}\s-[xX]\s+rm\b`,
      raw`\brsync\b(?=[^\n;|&]{0,120}\s--delete)[^\n;|&]{0,60}(?:empty|/dev/null)\S{0,20}\s`,
      raw`\b(?:del|erase)\s+(?:/[a-z]\s+){0,3}/s\b${rest}`,
      raw`\b(?:rd|rmdir)\s+(?:/[a-z]\s+){0,2}/s\b${rest}`,
      raw`\b(?:remove-item|ri)\b(?=[^\n;|&]{0,160}\s-rec)(?=[^\n;|&]{0,160}\s-fo)[^\n;|&]{1,160}`,
      raw`\bmv\s+\S{1,200}\s+/dev/null\b`,
      raw`\bunlink\s+/(?:etc|usr|var|home|root|boot|srv)/`,
    ),
  },
  {
    kind: 'deletes_files',
    value: (match) =>
      /\s(?:\/tmp|\/var\/tmp)\b|__pycache__|node_modules|cache|\.trash\b|library\/logs\b|\.(?:tmp|pyc|log|o|bak|swp)\b|ds_store/i.test(
        match,
      )
        ? 0
        : 4,
    pattern: any(
      raw`\bfind\s[^\n;|&]{0,200}(?:\s-delete\b|\s-exec\s+(?:rm|shred|unlink)\b|\|\s{0,4}xargs\s[^\n;|&]{0,20}\brm\b)`,
    ),
  },
  {
    kind: 'overwrites_device',
    value: 5,
    pattern: any(
      raw`\bdd\b[^\n]{0,100}\bof=/dev/(?:sd|nvme|hd|vd|disk|mapper)`,
      raw`\bmkfs(?:\.\w{1,10})?\s+[^\n]{0,60}/dev/`,
      raw`>\s*/dev/(?:sd|nvme|hd|vd)[a-z0-9]`,
      raw`:\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:`,
      raw`\b(?:wipefs|blkdiscard|shred)\s[^\n;|&]{0,60}/dev/(?:sd|nvme|hd|vd)`,
      raw`\b(?:sgdisk\s+(?:--zap-all|-Z)|parted\s+\S{1,40}\s+mklabel|cryptsetup\s+(?:luksErase|erase)|(?:lv|vg|pv)remove|zpool\s+destroy|zfs\s+destroy|diskutil\s+erase\w{1,12}|format-volume|clear-disk)\b${rest}`,
      raw`\bformat\s+[a-z]:\s{0,4}/`,
    ),
  },
  {
    kind: 'overwrites_file',
    value: 4,
    pattern: any(
      raw`(?<![\d&])>\s*/(?:etc|var/log|boot|usr)/[\w./-]{1,100}(?=\s*(?:$|[\n;&|]))`,
      raw`\btruncate\s+-s\s*0\s+/(?!tmp/)\S{1,200}`,
      raw`\bclear-content\s${rest}`,
    ),
  },
  {
    kind: 'drops_data',
    value: 5,
    pattern: any(
      raw`\bdropdatabase\s*\(`,
      raw`(?:^|[;|&\n"'(.]|redis-cli\b[^\n;|&]{0,80}\s)flush(?:all|db)\b`,
      raw`\betcdctl\s+del\s[^\n;|&]{0,60}--prefix|\bconsul\s+kv\s+delete\s+-recurse|\bkafka-topics(?:\.sh)?\s[^\n;|&]{0,120}--delete\b|\brabbitmqctl\s+(?:force_)?reset\b`,
      raw`\bcurl\b(?=[^\n;|&]{0,200}(?:-X\s*|--request[ =])["']?delete\b)[^\n;|&]{0,200}/(?:_all|\*|[\w.-]{1,60}\*)(?=["'\s]|$)`,
    ),
  },
  {
    kind: 'drops_data',
    // Tests make their database again.
    value: (match) =>
      /(?<![a-z])(?:tests?|testing|ci|scratch|sandbox|e2e|tmp|temp)(?![a-z])/i.test(match) ? 0 : 5,
    pattern: any(
      raw`(?:\b(?:rails_env|node_env|app_env|django_env|rack_env|env)=\w{1,20}\s{1,3}(?:bin\/|bundle exec )?)?\b(?:dropdb\s|mysqladmin\s[^\n;|&]{0,80}\bdrop\b|(?:rails|rake)\s+db:(?:drop|reset|purge)|artisan\s+(?:migrate:(?:fresh|reset)|db:wipe)|manage\.py\s+flush|prisma\s+migrate\s+reset|wp\s+db\s+(?:reset|drop)|pg:reset\b)[^\n;|&]{0,80}`,
    ),
  },
  {
    kind: 'rewrites_history',
    value: 4,
    pattern: any(
      raw`\bgit\s+(?:-C\s+\S{1,100}\s+)?push\b(?:[^\n;|&]{0,80}\s(?:--force(?!-with-lease|-if-includes)\b|-[a-z]{0,3}f[a-z]{0,3}\b|--mirror\b)|\s+\S{1,60}\s+\+[\w/]|[^\n;|&]{0,60}\s(?:--delete\s+|:)(?:main|master|develop|production|release)\b)[^\n;|&]{0,80}`,
      raw`\bgit\s+(?:filter-branch\b|filter-repo\b|reflog\s+expire\b[^\n;|&]{0,60}--all|branch\s+-D\s+(?:main|master|production)\b|update-ref\s+-d\s)${rest}`,
      raw`\bgh\s+(?:repo|release)\s+delete\b${rest}`,
    ),
  },
  {
    kind: 'tears_down',
    value: 5,
    pattern: any(
      raw`\b(?:terraform|tofu|terragrunt)\b(?=[^\n;|&]{0,80}\s(?:-{1,2}auto-approve|-force)\b)[^\n;|&]{0,60}\s-?destroy\b${rest}`,
      raw`\b(?:pulumi\s+destroy\b[^\n;|&]{0,60}\s(?:--yes|-y)|cdk\s+destroy\b[^\n;|&]{0,60}--force)`,
      raw`\b(?:kubectl|oc|k)\b[^\n;|&]{0,60}\sdelete\s+(?:ns|namespaces?|projects?|pvc?|persistentvolume\w{0,10}|crds?|nodes?|all|statefulsets?|sts)\b${rest}`,
      raw`\b(?:kubectl|oc|k)\b[^\n;|&]{0,60}\sdelete\b[^\n;|&]{0,60}\s(?:--all\b|-A\b)`,
      raw`\baws\s+s3\s+(?:rb\s+[^\n;|&]{0,80}--force|rm\s+[^\n;|&]{0,80}--recursive|sync\s+[^\n;|&]{0,80}--delete)`,
      raw`\bgcloud\s+projects\s+delete\b|\baz\s+group\s+delete\b|\bdocker\s+system\s+prune\s+[^\n]{0,20}-a|\bdocker\s+volume\s+(?:prune|rm)\b|\bdocker[ -]compose\s+down\s+[^\n;|&]{0,30}(?:-v\b|--volumes)|\bpodman\s+system\s+reset\b`,
    ),
  },
  {
    kind: 'tears_down',
    value: 4,
    pattern: any(
      raw`\baws\s+(?:[\w-]{1,30}\s+)(?:delete|terminate|schedule-key-deletion|deregister)[\w-]{0,40}${rest}`,
      raw`\b(?:gcloud|az|doctl|bq)\s+(?:[\w-]{1,30}\s+){1,4}delete\b${rest}|\bbq\s+rm\s${rest}`,
      raw`\b(?:gsutil\s+(?:-m\s+)?(?:rm\s+[^\n;|&]{0,20}-r|rb\b)|gcloud\s+storage\s+rm\s+[^\n;|&]{0,20}-r)${rest}`,
      raw`\b(?:heroku\s+apps:destroy|fly(?:ctl)?\s+(?:apps|volumes|machines?)\s+destroy|vercel\s+(?:rm|remove)|vault\s+secrets\s+disable|helm\s+(?:uninstall|delete)|npm\s+unpublish)\s${rest}`,
      raw`\b(?:kubectl|oc)\b[^\n;|&]{0,60}\sdelete\s+(?:secrets?|deployments?|deploy|services?|svc|-f)\b${rest}`,
      raw`\b(?:wbadmin\s+delete|wmic\s+shadowcopy\s+delete|cipher\s+/w|reg\s+delete\s+hk|remove-(?:aduser|azresourcegroup|s3bucket|mailbox|vm)\b|net\s+user\s+\S{1,40}\s+/delete|schtasks\s+/delete)${rest}`,
    ),
  },
  {
    kind: 'opens_permissions',
    value: 4,
    pattern: any(
      raw`\bchmod\s+(?:-R\s+)?(?:0?777|0?000|a\+rwx)\s+(?:-R\s+)?/`,
      raw`\bchown\s+-R\s+\S{1,40}\s+/(?:\s|$)`,
    ),
  },
  {
    kind: 'hides_traces',
    value: 4,
    pattern: any(
      raw`\bhistory\s+-c\b`,
      raw`\brm\s+[^\n;|&]{0,30}(?:\.bash_history|/var/log)`,
      raw`\bshred\s+-`,
      raw`\bvssadmin\s+delete\s+shadows\b`,
      raw`\bwevtutil\s+cl\b`,
    ),
  },
]

/** Destructive code. */
export const codeDestructions: readonly Destruction[] = [
  {
    kind: 'deletes_files',
    value: (match) =>
      /["'`](?:\.\/)?(?:dist|build|out|tmp|temp|\/tmp\/|node_modules|coverage|\.cache)|tmp|temp/i.test(match)
        ? 0
        : 4,
    pattern: any(
      raw`\bshutil\.rmtree\([^\n]{0,100}`,
      raw`\b(?:rm|rmdir)(?:Sync)?\((?=[^\n]{0,160}\brecursive["']?\s*:\s*true)[^\n]{0,160}`,
      raw`\bFileUtils\.(?:rm_rf|rm_r|remove_dir)\b[^\n]{0,80}|\bos\.(?:removedirs|RemoveAll)\([^\n]{0,80}|\bremove_dir_all\([^\n]{0,80}|\bDirectory\.Delete\([^\n]{0,80}true|\brimraf(?:\.sync)?\([^\n]{0,80}`,
    ),
  },
  {
    kind: 'changes_every_row',
    value: 4,
    pattern: any(
      raw`\.objects\.all\(\)\.delete\(\)|\.(?:destroy_all|delete_all)\b|\.delete(?:Many|_many)\(\s*(?:\{\s*\})?\s*\)|\.query\(\w{1,40}\)\.delete\(\)|\bdb\.\w{1,60}\.(?:remove\(\s*\{\s*\}\s*\)|drop\(\))|\bmetadata\.drop_all\(|\bsync\(\s*\{\s*force:\s*true|\.objects\.all\(\)\.delete\(|\.flushall\(\)|\bindices\.delete\(\s*(?:index\s*=\s*)?["'](?:\*|_all)`,
    ),
  },
]

const name = raw`(?:(?:only\s+)?(?:"[^"\n]{1,80}"|\x60[^\x60\n]{1,80}\x60|\[[^\]\n]{1,80}\]|[a-z_][\w$]{0,80})(?:\.(?:"[^"\n]{1,80}"|\x60[^\x60\n]{1,80}\x60|\[[^\]\n]{1,80}\]|[a-z_][\w$]{0,80})){0,2})`
/** The end of a statement, also inside a string of code or shell. */
const ends = raw`\s*(?:$|;|,|\)|["'\x60](?!\w)|\\n|\bcascade\b|\brestrict\b|\brestart\b|\bcontinue\b)`
const passing = raw`(?:["'\x60[]?(?:#|tmp|temp|test)|["'\x60]?\w{0,40}_(?:tmp|temp|bak|tests?|e2e|scratch|sandbox)\b)`
/** A condition that is true for every row. */
const always = raw`(?:\(?\s*(?:1\s*=\s*1|true|1|'(\w{0,3})'\s*=\s*'\1'|(\w{1,40})\s*=\s*\2|\w{1,40}\s*(?:>\s*0|>=\s*0|<>\s*0|is\s+not\s+null)))\s*\)?${ends}`

/** Destructive database statements. */
export const queryDestructions: readonly Destruction[] = [
  {
    kind: 'drops_data',
    value: 5,
    pattern: any(
      raw`\bdrop\s+(?:database|schema|keyspace|owned\s+by)\s+(?:if\s+exists\s+)?(?!${passing})${name}${ends}`,
    ),
  },
  {
    kind: 'drops_data',
    value: 4,
    pattern: any(
      raw`\b(?:drop|truncate)\s+table\s+(?:if\s+exists\s+)?(?!${passing})${name}${ends}`,
      raw`\btruncate\s+(?!table\b|to\b|the\b)(?!${passing})${name}${ends}`,
      raw`\balter\s+table\s+(?!${passing})${name}\s+drop\s+(?:column\s+)?${name}${ends}`,
      raw`\bdrop\s+(?:view|materialized\s+view|collection|user|role)\s+(?:if\s+exists\s+)?(?!${passing})${name}${ends}`,
    ),
  },
  {
    kind: 'changes_every_row',
    value: 4,
    pattern: any(
      raw`\bdelete\s+from\s+(?!${passing})${name}(?:\s+(?:as\s+)?(?!where\b|using\b|limit\b|set\b|returning\b|once\b)[a-z]\w{0,10})?(?:\s+limit\s+\d{4,12}|\s+returning\s+[\w*, ]{1,60})?${ends}`,
      raw`\bdelete\s+from\s+(?!${passing})${name}\s+(?:\w{1,20}\s+)?where\s+${always}`,
      raw`\bupdate\s+(?!${passing})${name}\s+set\s+[^;]{1,300}?\bwhere\s+${always.replace(/\\1/g, raw`\3`).replace(/\\2/g, raw`\4`)}`,
      raw`\bdetach\s+delete\s+\w`,
    ),
  },
  {
    kind: 'changes_every_row',
    value: (match) => (/\bwhere\b|\blimit\b|\bfrom\b/i.test(match) ? 0 : 4),
    pattern: any(raw`^\s{0,20}update\s+(?!${passing})${name}\s+set\s+[^;]{1,400}(?:;|$)`),
  },
  {
    kind: 'opens_permissions',
    value: 4,
    pattern: any(raw`\bgrant\s+all\b[^\n;]{0,100}\bto\s+(?:public\b(?=${ends})|\S{0,30}@?'?%'?)`),
  },
]

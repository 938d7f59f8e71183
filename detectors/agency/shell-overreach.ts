import { knownInstallers } from '../supply-chain/known-packages.ts'
import { any, privateThing, rest, secretFile, unlessLocal, type Overreach } from './overreach.ts'

const raw = String.raw
const shell = raw`(?:/(?:usr/)?bin/)?(?:ba|z|da|k|c)?sh`
const fetcher = raw`(?:curl|wget|fetch)`
/** Hosts that take files from anybody or show what is sent to them. */
const dropHost = raw`(?:transfer\.sh|file\.io|0x0\.st|bashupload|termbin|pastebin|paste\.\w|\w{0,20}paste\w{0,10}\.\w|ix\.io|webhook\.site|requestbin|pipedream\.net|burpcollaborator|oast\.|interact\.sh|ngrok|anonfiles|gofile|catbox\.moe|ftp://)`
const protectors = raw`(?:falcon\S{0,12}|crowdstrike\S{0,20}|osqueryd?|sentinel\w{0,12}|clam\w{0,10}|windefend|defender\w{0,8}|xprotect\w{0,12}|r?syslogd?|rsyslog|syslog-ng|auditd|santad?|little ?snitch|lulu|knockknock|blockblock|cbdaemon|carbonblack|sophos\w{0,10}|mcafee\w{0,10}|symantec|avast\w{0,10}|kaspersky|eset\w{0,10}|wazuh\S{0,12}|ossec\w{0,10}|fail2ban|apparmor|firewalld|ufw|iptables|nftables|securityd|tccd|mds_?stores|endpoint\w{0,12}|antivirus\w{0,10}|security\w{0,12}|snort|suricata|tripwire|samhain|aide|auditbeat|filebeat|logkext|at\.obdev\S{0,20})`

const fromKnownHost = (match: string): boolean =>
  Array.from(match.matchAll(/https?:\/\/([^\s/"'`)]{1,200})(\/[^\s/"'`)]{0,100}\/)?/gi)).every(
    ([, host = '', owner = '']) =>
      knownInstallers.has(host.toLowerCase()) || knownInstallers.has(`${host}${owner}`.toLowerCase()),
  )

const unlessKnownHost = (match: string): 0 | 4 =>
  unlessLocal(4)(match) === 0 || (/https?:/i.test(match) && fromKnownHost(match)) ? 0 : 4

/** Unix commands that take data out, stay behind, widen rights, blind protection or attack. */
export const shellOverreach: readonly Overreach[] = [
  {
    kind: 'exfiltrates_data',
    value: unlessLocal(5),
    pattern: any(
      raw`\bcurl\b(?=[^\n;|&]{0,300}(?:-T\s?|--upload-file[ =]|-F\s?\S{0,30}=?@|--form[ =]\S{0,30}@|(?:-d|--data(?:-binary|-raw|-urlencode)?)[ =]?["']?\S{0,20}@))[^\n;|&]{0,200}${privateThing}[^\n;|&]{0,200}`,
      raw`\b(?:env|printenv|set|tar|zip|gzip|cat|history|find|ps|whoami|uname|ifconfig|ip|pbpaste|system_profiler|openssl|base64|security|sqlite3|ls|lsof|netstat|mysqldump|pg_dump\w{0,3}|mongodump|dump)\b[^\n;]{0,200}\|[^\n;]{0,80}\bcurl\b[^\n;|&]{0,200}(?:@-|-T\s?-|-T\s?\.|--upload-file\s-)[^\n;|&]{0,120}`,
      raw`\b(?:scp|rsync|sftp|rclone|aws\s+s3\s+(?:cp|sync)|gsutil\s+cp)\s[^\n;|&]{0,120}${privateThing}[^\n;|&]{0,120}(?:@[\w.-]{1,80}:|\s\w{1,20}:|s3://|gs://|remote)${rest}`,
      raw`\b(?:zip|tar|7z|rar|gzip|openssl|gpg|split)\b[^\n]{1,300}\b(?:curl\b[^\n;|&]{0,160}(?:-T|--upload-file|-F|@)|scp\s[^\n;|&]{1,160}@|nc\s+(?:-\w\s+\S{1,10}\s+){0,3}[\w.-]{4,80}\s+\d|ssh\s[^\n]{1,100}cat\s{0,3}>|(?:mail|mutt|sendmail|uuencode)\s|ftp\s|rclone\s|aws\s+s3)[^\n]{0,100}`,
      raw`\b(?:mail|mailx|mutt)\s[^\n;|&]{0,160}(?:-[aA]\s|<\s?)[^\n;|&]{0,40}\S{1,80}`,
      raw`\buuencode\s[^\n;]{1,120}\|\s{0,3}(?:mail|sendmail)\b${rest}`,
      raw`\b(?:dig|nslookup|host|ping)\b[^\n;|]{0,80}(?:\$\(|\x60)[^\n]{1,160}`,
      raw`\b(?:cat|tar|zip|gzip|base64|xxd|openssl|gpg|pbpaste|env|printenv|find|mysqldump|pg_dump|dd|ps|top|ls|netstat|lsof|whoami|uname|ifconfig|history|who|id|last|ioreg|log)\b[^\n;]{0,200}\|\s{0,3}(?:nc|ncat|netcat|socat|telnet)\s(?!-[a-z]{0,4}z)[^\n;|&]{1,120}`,
      raw`\b(?:nc|ncat|netcat)\s[^\n;|&<]{3,100}<\s{0,3}\S{1,120}|\bftp\s[^\n]{1,100}\bput\s\S{1,80}`,
      raw`\bfind\s[^\n;|&]{0,160}-exec\s+(?:scp|curl|rsync|nc)\s[^\n]{0,200}`,
      raw`\b(?:cat|tar|pbpaste|dd)\b[^\n;]{0,200}>\s{0,3}/dev/(?:tcp|udp)/\S{1,80}`,
    ),
  },
  {
    kind: 'uploads_files',
    value: unlessLocal(4),
    pattern: any(
      raw`\bcurl\b(?=[^\n;|&]{0,300}\s(?:-T\s?[^\s-]|--upload-file[ =]))[^\n;|&]{0,300}`,
      raw`\bcurl\b(?=[^\n;|&]{0,300}(?:\s-F\s?|--form|--data|\s-d|\s-X\s?POST|@))[^\n;|&]{0,200}${dropHost}[^\n;|&]{0,160}`,
      raw`\bwget\b[^\n;|&]{0,200}--post-(?:file|data)[ =]["']?(?:\$\(|\S{0,80}${privateThing}|/)[^\n]{0,160}`,
      raw`\b(?:curl|wget)\b[^\n;|&]{0,160}https?://[^\s]{1,160}(?:\$\(|\x60)\s{0,3}(?:cat|env|whoami|hostname|id|base64|uname|pbpaste|ls|security)\b[^\n]{0,120}`,
      raw`\bcurl\b[^\n;|&]{0,160}(?:-d|--data\S{0,12})[ =]?["']?[^\n;|&"']{0,60}(?:\$\(|\x60)\s{0,3}(?:cat|env|printenv|whoami|hostname|id|base64|uname|pbpaste|security|history)\b[^\n]{0,160}`,
      raw`\brequests\.(?:post|put)\((?=[^\n]{0,300}(?:os\.environ|open\(\s{0,3}["'](?:~|/etc|/home|/Users|/root)|\.ssh|expanduser))[^\n]{0,300}`,
      raw`\bssh\s[^\n;|&]{1,100}["']cat\s{0,3}>{1,2}\s{0,3}\S{1,80}`,
      raw`\b(?:zip\s+-\w{0,5}e|rar\s+a\s|7z\s+a\s[^\n;|&]{0,40}-p|(?:tar|zip|split)\s|hdiutil\s+create\s)[^\n;|&]{0,120}(?:~/Documents|sensitive|confidential|secret|private|payroll|customers?)\S{0,60}${rest}`,
    ),
  },
  {
    kind: 'reads_secrets',
    value: 5,
    pattern: any(
      raw`\bsecurity\s+(?:-\S{1,10}\s+)?(?:dump-keychain|export|find-(?:generic|internet)-password|unlock-keychain)\b${rest}`,
      raw`\b(?:cat|less|more|head|tail|cp|mv|base64|xxd|strings|sqlite3|tar|zip|grep|awk|sed|sort|open|dd|unshadow|plutil|defaults\s+read|python3?|scp|rsync|tee|7z|rar|ls\s+-\w{1,6})\s[^\n;|&]{0,120}${secretFile}${rest}`,
      raw`\bfind\s(?:/|~|\$HOME)[^\n;|&]{0,120}(?:id_rsa|id_dsa|\*?\.pem|\*?\.key\b|\*?\.p12|\*?\.kdbx|wallet|passw(?!d\b)|credential|secret|authorized_keys|keychain|\.gnupg|\.ssh|\.aws|cookies|history)\S{0,40}${rest}`,
      raw`\bgrep\s[^\n;|&]{0,40}(?:-\w{0,6}[rR]|--recursive)[^\n;|&]{0,60}(?:passw|credential|secret|api[_-]?key|private key|token|ssn|credit)[^\n;|&]{0,60}\s(?:/(?:etc|home|Users|var|root|)(?:/\S{0,60})?|~\S{0,60}|\$HOME\S{0,60})(?=\s|$|["'])${rest}`,
      raw`\b(?:mimikatz|secretsdump|lazagne|keychaindump|chainbreaker|procdump\S{0,6}\s[^\n]{0,60}lsass|lsassy|pypykatz|gcore\s|dscl\s[^\n;|&]{0,80}(?:ShadowHashData|-read\s+/Users/\S{1,30}\s+\S{0,20}(?:Password|Hash)))${rest}`,
      raw`\b(?:169\.254\.169\.254|metadata\.google\.internal|fd00:ec2::254|100\.100\.100\.200)\b${rest}`,
      raw`\bosascript\b[^\n]{0,200}(?:display dialog|hidden answer|default answer)[^\n]{0,200}(?:passw|credential|hidden answer|log ?in)[^\n]{0,80}`,
      raw`\bsqlite3\s[^\n;|&]{0,160}(?:history|cookies|logins?|keychain|messages|chat\.db|tcc\.db|places)[^\n;|&]{0,160}`,
      raw`\b(?:pbpaste|xclip\s+-o)\b[^\n;]{0,80}(?:\|\s{0,3}grep[^\n]{0,60}(?:passw|credit|ssn|secret|token)|>{1,2}\s{0,3}\S{0,60})${rest}`,
    ),
  },
  {
    kind: 'persists',
    value: 4,
    pattern: any(
      raw`\|\s{0,3}(?:sudo\s+)?crontab\s+(?:-u\s+\S{1,30}\s+)?-(?=\s|$|["';&)])`,
      raw`\bcrontab\s+(?:-u\s+\S{1,30}\s+)?(?:<\s{0,3})?(?:<\(|/tmp/|~/|\./?|\S{1,40}\.(?:txt|cron|sh|tab))${rest}`,
      raw`^\s{0,4}(?:@reboot|@hourly|@daily|(?:[\d*/,-]{1,12}\s+){4}[\d*/,-]{1,12})\s+[/.~a-z][^\n]{3,200}`,
      raw`@reboot\s+[^\n]{1,160}`,
      raw`\blaunchctl\s+(?:load|bootstrap|submit|enable|kickstart|setenv|asuser|start)\b${rest}`,
      raw`\b(?:defaults|plutil|PlistBuddy)\s[^\n;|&]{0,80}(?:LoginHook|LogoutHook|AutoLaunchedApplicationDictionary|loginwindow|Launch(?:Agents|Daemons)|RunAtLoad|ProgramArguments)${rest}`,
      raw`\bosascript\b[^\n]{0,160}(?:make (?:new )?login item|login item)[^\n]{0,200}`,
      raw`<plist\b[^\n]{0,600}(?:ProgramArguments|RunAtLoad|StartInterval)[^\n]{0,300}`,
      raw`\b(?:DYLD_INSERT_LIBRARIES|DYLD_INTERPOSE|DYLD_FRAMEWORK_PATH|LD_PRELOAD)=\S{1,120}${rest}`,
      raw`\b(?:kextload|kextutil|insmod|kmutil\s+(?:load|install)|kldload)\s${rest}`,
      raw`\b(?:systemsetup\s[^\n;|&]{0,20}-setremote\w{1,20}\s+on|kickstart\s+-activate|systemctl\s+(?:--user\s+)?enable\s[^\n;|&]{0,40}(?:/tmp|/home|~|backdoor|hidden)|cron(?:d)?\s+-f|sysrc\s+\w{1,30}_enable)${rest}`,
      raw`\bnohup\s[^\n;|&]{0,160}(?:/tmp/|/\.\w|~/\.|\bnc\b|/dev/shm|while\b)[^\n]{0,120}`,
      raw`\b(?:update-rc\.d|chkconfig|at\s+(?:now|-f|-M|-t|\d)|batch\b\s{0,3}<)\s?${rest}|\bprofiles\s+(?:-I|install)\s${rest}`,
    ),
  },
  {
    kind: 'persists',
    value: 4,
    pattern: any(
      raw`\balias\s+(?:sudo|ls|cd|su|ssh|cp|ps|rm|git|cat|top|who)=["'][^\n]{0,40}(?:curl|wget|nc|bash|python|/tmp|tee|;|&&)[^\n]{0,160}`,
    ),
  },
  {
    kind: 'raises_privileges',
    value: 5,
    pattern: any(
      raw`\bNOPASSWD\b[^\n]{0,120}|\bvisudo\s+-c?f\b${rest}`,
      raw`\b(?:useradd|adduser|usermod)\b[^\n;|&]{0,120}(?:-u\s{0,2}0\b|-o\b|-aG\s+(?:sudo|wheel|root|admin|docker)|-G\s+(?:sudo|wheel|root|admin|docker)|(?:sudo|wheel)\b)${rest}`,
      raw`\bchmod\s+(?:-\w\s+)?(?:[ugoa]{0,3}\+[rwx]{0,3}s[rwx]{0,2}|[246]7[0-7]{2}|0?[4267][0-7]{3}|u=rwxs\S{0,10})\s+\S${rest}`,
      raw`\bsetcap\s+\S{0,40}cap_(?:setuid|sys_admin|sys_ptrace|dac|net_raw|setgid)\S{0,40}${rest}`,
      raw`\bos\.set(?:re)?[ug]id\(\s{0,3}0|\bsetuid\(\s{0,3}0\s{0,3}\)`,
      raw`\b(?:dscl\s+\S{1,10}\s+-?(?:create|append|passwd)|dseditgroup|sysadminctl\s+-(?:addUser|resetPassword)|dsenableroot)\b${rest}`,
      raw`\bchpasswd\b|\bpasswd\s+(?:root|-d\s|--stdin)${rest}`,
      raw`\bdocker\s+run\b[^\n;|&]{0,120}(?:-v\s{0,2}/:|--volume[ =]/:|--pid[ =]host|source=/,)${rest}|\bnsenter\b[^\n;|&]{0,60}(?:-t\s?1|--target\s?1)\b${rest}`,
      raw`\bsudo\s[^\n;|&]{0,20}(?:vim?|find|awk|less|man|nmap|tar|ed|perl|ruby|lua|python\d?|gdb|git|env|ftp|zip|tcpdump|xargs|expect|script|rlwrap|strace|taskset|time|watch|make)\s[^\n]{0,100}(?:/bin/(?:ba)?sh|-exec\s+\S{0,10}sh\b|!\s{0,3}(?:/bin/)?(?:ba)?sh|os\.system|exec\()[^\n]{0,60}`,
      raw`\becho\s[^\n;|&]{0,60}\|\s{0,3}sudo\s+-\w{0,4}S\b[^\n]{0,160}`,
      raw`\bwith administrator privileges\b|\b(?:TF|f)=\$\(mktemp[^\n]{0,160}(?:sudo|/bin/sh)[^\n]{0,80}`,
      raw`\btouch\s[^\n;|&]{0,40}/var/(?:db|run|lib)/sudo\S{0,30}|/usr/libexec/security_authtrampoline\b${rest}`,
      raw`\bsudo\s+-u\s?\\?#-1\b${rest}|\bchown\s+(?:-R\s+)?\S{1,30}\s+/etc/(?:sudoers|passwd|shadow)${rest}|\bof=/dev/k?mem\b|/bin/(?:ba)?sh\s+-p\b|\bfind\s[^\n;|&]{0,60}-perm\s[^\n;|&]{0,60}-exec\s+chmod\s${rest}`,
    ),
  },
  {
    kind: 'raises_privileges',
    value: 4,
    pattern: any(
      raw`\bsudo\s+(?:useradd|adduser)\s${rest}|\bcp\s+(?:-p\s+)?/bin/(?:ba|z)?sh\s${rest}`,
      raw`\b(?:sudo\s+)?chmod\s+(?:-R\s+)?(?:0?777|a\+rwx|o\+w|ugo\+rwx)\s+(?:-R\s+)?(?:/(?!tmp\b|var/www)|~|\$HOME)${rest}`,
      raw`\bchown\s+(?:-R\s+)?root(?::\w{1,12})?\s[^\n;|&]{1,100}(?:;|&&)\s{0,3}[^\n;|&]{0,10}chmod\s[^\n]{0,60}`,
      raw`\bsudo\s+(?:su(?:\s+-)?|-i|-s|bash|sh)(?=\s{0,3}(?:$|[\n;&|"']))|\bsu\s+-c\s[^\n;|&]{1,120}`,
    ),
  },
  {
    kind: 'disables_protection',
    value: 5,
    pattern: any(
      raw`\b(?:ufw\s+(?:--force\s+)?(?:disable|reset)|iptables\s+(?:-t\s+\w{1,10}\s+)?(?:-F|--flush|-X|-P\s+(?:INPUT|FORWARD|OUTPUT)\s+ACCEPT)|ip6tables\s+-F|nft\s+flush\s+ruleset|pfctl\s+-\w{0,3}[dFf]|setenforce\s+(?:0|permissive)|aa-(?:teardown|disable|complain))\b${rest}`,
      raw`\bSELINUX=(?:disabled|permissive)|\bcsrutil\s+(?:(?:authenticated-root\s+)?disable|enable\s+--without)|\bspctl\s+(?:--master-disable|--global-disable|--add|developer)|\bsocketfilterfw\s[^\n;|&]{0,60}(?:--setglobalstate\s+off|--unblockapp|--add|--setstealthmode\s+off|--setblockall\s+off)|\bfdesetup\s+disable|\bnvram\s+(?:-\w\s+)?["']?(?:boot-args|csr-active-config|SystemAudioVolume)|\btccutil\s+reset|\bTCC\.db\b|\bkernel\.(?:randomize_va_space|yama\.ptrace_scope|kptr_restrict)\s?=\s?0`,
      raw`\b(?:pkill|killall|kill\s+-9\s+\$\(pgrep|launchctl\s+(?:unload|bootout|remove|disable|stop)|systemctl\s+(?:stop|disable|mask|kill)|service)\b[^\n;|&]{0,60}(?<![a-z])${protectors}${rest}`,
      raw`\bservice\s+${protectors}\s+stop\b|\brm\s[^\n;|&]{0,80}${protectors}\S{0,40}${rest}`,
      raw`\bauditctl\s+(?:-e\s?0|-D)\b|\b(?:unset\s+HISTFILE|HISTFILE=/dev/null|HISTSIZE=0|HISTFILESIZE=0|set\s+\+o\s+history)\b|\bhistory\s+-[cdw]{1,3}\b|(?:>|\bln\s[^\n;|&]{0,40}/dev/null\s|\brm\s[^\n;|&]{0,20}|\bshred\s[^\n;|&]{0,30}|\btruncate\s[^\n;|&]{0,20})\s{0,3}\S{0,40}\.(?:bash|zsh)_history\b`,
      raw`\bsed\s[^\n;|&]{0,40}-i[^\n;|&]{0,120}(?:/var/log|\.log\b|syslog|secure\b)${rest}|\b(?:cat|cp|dd\s[^\n;|&]{0,10}if=)\s{0,3}/dev/(?:null|zero)\s[^\n]{0,40}/var/(?:log|audit)\S{0,60}|\b(?:shred|srm)\s[^\n;|&]{0,60}/var/(?:log|audit)|\blog\s+erase\b|\brm\s[^\n;|&]{0,40}/(?:private/)?var/(?:log|audit)\S{0,60}|>\s{0,3}/(?:private/)?var/(?:log|audit)/\S{1,60}|\bfor\s+\w{1,20}\s+in\s+/var/log\S{0,20};[^\n]{0,60}>\s{0,3}[^\n]{1,40}|\bStrictHostKeyChecking\s+no\b[^\n]{0,100}>>`,
      raw`\bxattr\s+(?:-\w{1,3}\s+){1,3}(?:com\.apple\.quarantine)${rest}|\bxattr\s+-c\w?\s${rest}`,
      raw`\b(?:chflags\s+(?:-\w\s+)?(?:hidden|nouchg,hidden)|SetFile\s+-a\s+V|softwareupdate\s+--schedule\s+off|defaults\s+write\s[^\n;|&]{0,80}(?:LSQuarantine|(?:AutomaticCheckEnabled|CriticalUpdateInstall|ConfigDataInstall|globalstate)\s+(?:-\w{1,5}\s+)?(?:false|no|0|off)|LogFileDisabled\s+(?:-\w{1,5}\s+)?(?:true|yes|1)))${rest}`,
      raw`\bStrictHostKeyChecking=no\b[^\n]{0,120}(?:sshpass|BatchMode=no)|\bnetworksetup\s+-set(?:dnsservers|webproxy|securewebproxy|autoproxyurl|socksfirewallproxy)\w{0,10}\s${rest}`,
    ),
  },
  {
    kind: 'opens_shell',
    value: 5,
    pattern: any(
      raw`\b(?:nc|ncat|netcat)(?:\.\w{1,12})?\s[^\n;|&]{0,80}(?:-\w{0,5}[ec]\s{0,2}["']?(?:/bin/|/usr/bin/|cmd|powershell|\w{0,3}sh\b)|--(?:sh-)?exec\b)${rest}`,
      raw`\b(?:${shell}|exec)\b[^\n]{0,60}/dev/(?:tcp|udp)/[^\n]{1,100}|/dev/(?:tcp|udp)/[\w.$<>{}-]{1,60}/\S{1,20}\s{0,3}(?:0>&1|\d?<&|<&)`,
      raw`\bmkfifo\s[^\n]{1,160}\b(?:nc|ncat|netcat|telnet|openssl)\b[^\n]{0,120}|\bmknod\s[^\n]{1,60}\bp\b[^\n]{0,120}\bnc\b[^\n]{0,80}`,
      raw`\bsocat\s[^\n;|&]{0,160}(?:EXEC|SYSTEM):${rest}`,
      raw`\bsocket\b[^\n]{0,300}(?:\bdup2\b|\bpty\.spawn|subprocess|exec[lv]?\w{0,2}\(|/bin/(?:ba|z)?sh)[^\n]{0,200}`,
      raw`\b(?:fsockopen|TCPSocket|Socket::INET|IO::Socket)\b[^\n]{0,200}(?:exec|/bin/(?:ba)?sh|system)[^\n]{0,100}`,
      raw`\b(?:msfvenom|msfconsole|meterpreter|metasploit|empire|pupy|sliver|cobaltstrike|weevely)\b${rest}`,
      raw`\bssh\s[^\n;|&]{0,80}-\w{0,6}R\s{0,2}\S{0,60}:\S{1,60}${rest}|\b(?:ngrok|chisel|frpc|cloudflared)\s+(?:tcp|client|tunnel)\b${rest}|\bcode\s+tunnel\b${rest}`,
      raw`\btelnet\s[^\n;|&]{1,80}\|\s{0,3}${shell}\b${rest}|\|\s{0,3}(?:nc|ncat|telnet)\s[^\n;|&]{1,80}\|\s{0,3}${shell}\b|\b(?:nc|ncat)\s+-\w{0,6}l\w{0,4}\s[^\n;]{0,60}\|\s{0,3}(?:${shell}|while\b)[^\n]{0,80}`,
    ),
  },
  {
    kind: 'runs_download',
    value: unlessKnownHost,
    pattern: any(
      raw`\b${fetcher}\b[^\n;|]{1,240}\|\s{0,3}(?:sudo\s+(?:-\w{1,3}\s+)?)?(?:${shell}|python\d?|perl|ruby|php|node|osascript)\b${rest}`,
      raw`(?:\b(?:eval|source|${shell}\s+-c)\s{0,3}|(?:^|[\s;&|])\.\s{1,3}|\b${shell}\s{0,3})["']?(?:\$\(|\x60|<\()\s{0,3}${fetcher}\b[^\n]{1,240}`,
      raw`\b${fetcher}\b[^\n;|&]{1,300}(?:;|&&|\n)[^\n]{0,160}(?:\bchmod\s[^\n]{1,80}|(?:;|&&)\s{0,3}(?:sudo\s+)?(?:${shell}|python\d?|perl|open|installer|\./)\s?[^\n]{0,100})`,
      raw`\b${fetcher}\b[^\n;|&]{1,300}(?:;|&&|\n)\s{0,3}(?:sudo\s+)?(?:~|\$HOME|/tmp|/var/tmp|/dev/shm|\./)\S{1,100}`,
      raw`\b${fetcher}\b[^\n;]{1,240}\|\s{0,3}tar\s[^\n;|&]{1,80}(?:;|&&)[^\n]{1,120}|\b${fetcher}\b[^\n;|]{1,240}(?:;|&&)[^\n]{0,60}\b(?:installer\s+-pkg|open|dpkg\s+-i|rpm\s+-i)\s[^\n]{1,80}`,
      raw`\bhdiutil\s+(?:mount|attach)\s[^\n;|&]{1,120}(?:;|&&)\s{0,3}(?:sudo\s+)?(?:open|cp|installer|/Volumes)[^\n]{1,120}`,
    ),
  },
  {
    kind: 'runs_hidden_code',
    value: 5,
    pattern: any(
      raw`\bbase64\s+(?:-d|-D|--decode)\b[^\n;]{0,80}\|\s{0,3}(?:sudo\s+)?(?:${shell}|python\d?|perl|node|php)\b|\b(?:${shell}\s+-c|eval|python\d?\s+-c)\s{0,3}["']?[^\n]{0,20}(?:\$\(|\x60|<\()[^\n]{0,120}base64\s+(?:-d|-D|--decode)[^\n]{0,60}`,
      raw`\bexec\(\s{0,3}(?:__import__\(["']base64["']\)|base64|zlib|codecs)\b[^\n]{0,160}|\b(?:xxd\s+-r|openssl\s+enc\s[^\n;|]{0,60}-d)\b[^\n;]{0,60}\|\s{0,3}${shell}\b`,
    ),
  },
  {
    kind: 'watches_people',
    value: 4,
    pattern: any(
      raw`\b(?:logkeys|keylog\w{0,10}|showkey|xinput\s+test|xev)\b${rest}|/dev/input/(?:event|by-)\S{0,20}`,
      raw`\bscreencapture\s+(?:-\w{1,4}\s+){0,4}\S${rest}|\b(?:scrot|gnome-screenshot|import\s+-window\s+root|xwd\s+-root)\b${rest}`,
      raw`\b(?:imagesnap|isightcapture|fswebcam|arecord)\b${rest}|\bffmpeg\s[^\n;|&]{0,80}-f\s+(?:avfoundation|v4l2|x11grab|alsa|gdigrab)\b${rest}|\b(?:sox|rec)\s+-d\s${rest}`,
      raw`\b(?:tcpdump|tshark|dumpcap)\s[^\n;|&]{0,100}-\w{0,4}[wXA]\b${rest}|\b(?:ettercap|bettercap|dsniff|arpspoof|mitmproxy|mitmdump|driftnet|sslstrip)\s${rest}|\barp\s+-s\s${rest}`,
      raw`\bwhile\b[^\n]{0,20};\s{0,3}do\b[^\n]{0,120}>{1,2}\s{0,3}["']?(?:/tmp/\.|~/\.|~/Library/)\S{1,60}|\blog\s+stream\b[^\n;|&]{0,100}(?:keystroke|passw)${rest}`,
      raw`\bwhile\b[^\n]{0,60}\bpbpaste\b[^\n]{0,200}|\bscript\s+-\w{1,3}\s[^\n;|&]{0,60}(?:/dev/null|\.log|/\.)${rest}|\bCGEventTapCreate\b|\bpynput\b|\bosascript\b[^\n]{0,120}(?:keystroke|key code|screencapture|the clipboard|start dictation)[^\n]{0,100}`,
    ),
  },
  {
    kind: 'attacks_hosts',
    value: 4,
    pattern: any(
      raw`\b(?:hydra|medusa|ncrack|patator|john|hashcat|aircrack-ng|airodump-ng|aireplay-ng|sqlmap|nikto|wpscan|dirb|gobuster|ffuf|masscan|zmap|responder|crackmapexec|netexec|enum4linux|hping3|slowloris|theharvester|sublist3r|amass|dnsrecon|dnsenum|fierce|maltego|shodan|linpeas\S{0,4}|linenum\S{0,4}|winpeas\S{0,4}|setoolkit|beef-xss|evilginx\d?|gophish|goldeneye)\s${rest}`,
      raw`\bnmap\s[^\n;|&]{0,100}(?:/\d{1,2}\b|-s[SUTXNFAV]\b|-A\b|-O\b|--script|-p-|-T[45]|-Pn)${rest}`,
      raw`\bsshpass\s[^\n;|&]{0,200}(?:done|\$pass|\$host|\$p\b)|\bcurl\b[^\n;|&]{0,120}(?:%2e%2e|\.\./\.\.)[^\n;|&]{0,120}etc/${rest}|\bwhile\b[^\n]{0,30}do\s+(?:sshpass|ssh)\s[^\n]{1,120}|\bfor\s+\w{1,20}\s+in\s[^\n]{0,200}(?:sshpass|ssh\s[^\n]{0,60}(?:\$pass|PasswordAuthentication)|/dev/tcp/|nc\s+-\w{0,4}z)[^\n]{0,160}`,
      raw`\bping\s[^\n;|&]{0,20}-f\s${rest}|\bping\s[^\n;|&]{0,40}-s\s+6\d{4}\b${rest}`,
    ),
  },
  {
    kind: 'mines_coins',
    value: 5,
    pattern: any(
      raw`\b(?:xmrig|minerd|cpuminer|ethminer|cgminer|bfgminer|nbminer|t-rex\s|xmr-stak\w{0,6}|minergate\S{0,6}|coinhive|cryptonight)\b${rest}|stratum\+(?:tcp|ssl)://\S{0,80}`,
    ),
  },
  {
    kind: 'hogs_machine',
    value: 4,
    pattern: any(
      raw`\bwhile\s+(?::|true|\[\s?1\s?\]|1);\s{0,3}do\s[^\n]{0,120}\b(?:openssl\s+(?:rand|speed)|yes|dd|head\s[^\n]{0,30}/dev/u?random|fork|md5|sha\w{1,6}|bc)\b[^\n]{0,120}`,
      raw`\byes\s{0,3}>\s{0,3}/dev/null\s{0,3}&|\bcat\s+/dev/u?random\s{0,3}>\s{0,3}[^\n;|&]{1,80}|\bdd\s+if=/dev/(?:zero|u?random)\s[^\n;|&]{0,60}\bbs=\d{1,4}[gG]\b${rest}|\bstress(?:-ng)?\s+-\S${rest}`,
    ),
  },
  {
    kind: 'discards_work',
    value: 4,
    pattern: any(
      raw`\bgit\s+(?:-C\s+\S{1,100}\s+)?reset\s+(?:[^\n;|&]{0,40}\s)?--hard\b${rest}`,
      raw`\bgit\s+(?:-C\s+\S{1,100}\s+)?clean\s+(?:-[a-zA-Z]{1,4}\s+){0,3}-[a-zA-Z]{0,4}f[a-zA-Z]{0,4}\b${rest}`,
      raw`\bgit\s+(?:-C\s+\S{1,100}\s+)?(?:checkout\s+(?:-f\s+)?(?:HEAD\s+)?(?:--\s+)?\.(?=\s|$|[;&|"'])|restore\s+(?:--(?:staged|worktree)\s+){0,2}\.(?=\s|$|[;&|"'])|stash\s+(?:clear|drop)\b)${rest}`,
    ),
  },
]

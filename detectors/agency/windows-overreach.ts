import { any, rest, unlessLocal, type Overreach } from './overreach.ts'

const raw = String.raw
const fetched = raw`(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod|downloadstring|downloaddata|downloadfile)`

/** The same for Windows: PowerShell and cmd. */
export const windowsOverreach: readonly Overreach[] = [
  {
    kind: 'uploads_files',
    value: unlessLocal(4),
    pattern: any(
      raw`\b(?:invoke-webrequest|invoke-restmethod|iwr|irm)\b(?=[^\n]{0,300}-method\s+["']?(?:post|put))[^\n]{0,200}(?:get-content|-infile|\$env:|get-childitem|convertto-|compress-archive|base64)[^\n]{0,200}`,
      raw`\.upload(?:file|data|string)\([^\n]{1,200}|\bsend-mailmessage\b[^\n]{0,160}-attachments?\b${rest}|\bcertreq\s[^\n;|&]{0,60}-post\b${rest}`,
    ),
  },
  {
    kind: 'reads_secrets',
    value: 5,
    pattern: any(
      raw`\breg(?:\.exe)?\s+(?:save|export)\s+["']?hklm\\(?:sam|system|security)\b${rest}|\blsass\b${rest}|\bcomsvcs(?:\.dll)?\b[^\n;]{0,40}minidump${rest}|\bntdsutil\b${rest}|\bvssadmin\s+create\s+shadow${rest}|\bvaultcmd\b${rest}|\bcmdkey\s+/list\b`,
      raw`\bfindstr\s[^\n;|&]{0,60}(?:passw|cpassw|credential|secret)[^\n;|&]{0,80}|\bselect-string\b[^\n;|&]{0,80}(?:passw|credential|api_?key)[^\n;|&]{0,60}|\breg(?:\.exe)?\s+query\s[^\n;|&]{0,120}(?:passw|winlogon|putty|vnc)${rest}`,
      raw`\b(?:invoke-mimikatz|sekurlsa|kerberoast\w{0,6}|rubeus|sharphound|seatbelt|get-credential\s[^\n]{0,60}(?:getnetworkcredential|password)|dpapi|lazagne|nanodump|dumpert|crypto::\w{1,20})\b${rest}|\bnetsh\s+wlan\s+(?:show|export)\s+profiles?\b[^\n;|&]{0,60}key=clear`,
    ),
  },
  {
    kind: 'persists',
    value: 4,
    pattern: any(
      raw`\bschtasks(?:\.exe)?\s[^\n;|&]{0,20}/create\b${rest}|\bregister-scheduledtask\b${rest}|\bnew-scheduledtask\w{0,12}\b${rest}`,
      raw`\b(?:reg(?:\.exe)?\s+add|new-itemproperty|set-itemproperty)\b[^\n;|]{0,200}(?:currentversion\\+(?:run\w{0,12}|winlogon|policies|windows|image file|explorer\\+\w{0,20}|appcompat\w{0,10})|active setup|\\services\\|shell\\+open\\+command|\\+command\\?|environment|autorun|userinit|appinit|print\\+monitors|session manager|lsa\b|inprocserver32|treatas|scrnsave|amsi\\+providers|netsh\b|office|bootexecute)[^\n;|]{0,160}`,
      raw`\bnew-service\b${rest}|\bsc(?:\.exe)?\s+(?:create|config|sdset|failure)\s${rest}|\bstart menu\\+programs\\+startup\b${rest}|\b\$profile\b[^\n;|]{0,60}(?:add-content|set-content|>>)|(?:add-content|set-content)\s[^\n;|]{0,40}\$profile\b${rest}`,
      raw`\b(?:__eventfilter|commandlineeventconsumer|set-wmiinstance|register-wmievent|register-ciminstance)\b${rest}|\bbitsadmin\s[^\n;|&]{0,80}/(?:setnotifycmdline|addfile|transfer)\b${rest}|\bnetsh(?:\.exe)?\s+add\s+helper\b${rest}`,
    ),
  },
  {
    kind: 'raises_privileges',
    value: 5,
    pattern: any(
      raw`\bnet1?(?:\.exe)?\s+user\s[^\n;|&]{1,80}/add\b${rest}|\bnet1?(?:\.exe)?\s+(?:localgroup|group)\s[^\n;|&]{1,80}/add\b${rest}|\bnew-localuser\b${rest}|\badd-(?:localgroupmember|adgroupmember)\b${rest}|\bnew-aduser\b${rest}`,
      raw`\b(?:psexec(?:64)?(?:\.exe)?\s|wmic\s[^\n;|&]{0,60}process\s+call\s+create|invoke-wmimethod\s|invoke-command\s+-computername|enter-pssession|mshta(?:\.exe)?\s|regsvr32(?:\.exe)?\s[^\n;|&]{0,60}/i:|rundll32(?:\.exe)?\s|installutil(?:\.exe)?\s|msbuild(?:\.exe)?\s[^\n;|&]{0,60}\.(?:xml|csproj)\b(?=[^\n]{0,40}temp)|cmstp(?:\.exe)?\s|takeown\s|icacls\s[^\n;|&]{1,100}/grant)${rest}|\bfodhelper|\beventvwr\b|\bsdclt\b|\bcomputerdefaults\b|\benablelua\b|\bsethc\.exe|\butilman\.exe`,
    ),
  },
  {
    kind: 'disables_protection',
    value: 5,
    pattern: any(
      raw`\b(?:set|add)-mppreference\b[^\n;|]{0,160}(?:disable|exclusion)${rest}|\bnetsh(?:\.exe)?\s+(?:adv)?firewall\s+(?:set\s[^\n;|&]{0,40}(?:off|disable|allow)|add\s+rule)${rest}|\bset-netfirewallprofile\b[^\n;|]{0,80}(?:false|disabled)${rest}|\bnew-netfirewallrule\b${rest}`,
      raw`\b(?:sc(?:\.exe)?|net|stop-service|taskkill)\s[^\n;|&]{0,60}(?:windefend|mpssvc|sense\b|eventlog|wscsvc|sysmon|securityhealth|wuauserv|msmpeng)${rest}|\bset-executionpolicy\s[^\n;|&]{0,60}(?:bypass|unrestricted)${rest}|\b(?:wevtutil(?:\.exe)?\s+(?:cl|clear-log|sl)|clear-eventlog|remove-eventlog|auditpol\s[^\n;|&]{0,40}(?:disable|clear|remove))\b${rest}|\bfsutil\s+usn\s+deletejournal${rest}`,
      raw`\b(?:reg(?:\.exe)?\s+add|new-itemproperty|set-itemproperty)\b[^\n;|]{0,200}(?:disable\w{2,40}|firewallpolicy|noautoupdate|enablefirewall|deviceguard|windows defender|hidefileext|consentpromptbehavior\w{0,10}|localaccounttokenfilterpolicy|wdigest|eventlog|scriptblocklogging|symlink\w{0,20})[^\n;|]{0,120}`,
      raw`\breg(?:\.exe)?\s+add\s+["']?(?:hklm|hkey_local_machine)\\+(?:software\\+policies|system)\\${rest}`,
      raw`\bbcdedit\s[^\n;|&]{0,60}(?:recoveryenabled|bootstatuspolicy|testsigning|safeboot|nointegritychecks)${rest}|\bamsi(?:utils|initfailed|scanbuffer)\b${rest}|\bunblock-file\b${rest}|\battrib(?:\.exe)?\s+\+[sh]${rest}|\b(?:clear-history|remove-item\s[^\n;|&]{0,60}consolehost_history)${rest}|\bfltmc\s+unload${rest}`,
    ),
  },
  {
    kind: 'opens_shell',
    value: 5,
    pattern: any(
      raw`\bnew-object\s+(?:system\.)?net\.sockets\.tcpclient\b[^\n]{0,200}|\bpowercat\b${rest}|\binvoke-powershelltcp\b${rest}|\bnishang\b${rest}`,
    ),
  },
  {
    kind: 'runs_download',
    value: unlessLocal(4),
    pattern: any(
      raw`\b(?:iex|invoke-expression)\b[^\n]{0,80}\b${fetched}\b[^\n]{0,200}|\b${fetched}\b[^\n;]{0,200}\|\s{0,3}(?:iex|invoke-expression)\b`,
      raw`\b${fetched}\b[^\n;|]{1,200}(?:;|\n)[^\n]{0,100}(?:start-process|&\s|\./|invoke-item)[^\n]{0,120}`,
      raw`\bcertutil(?:\.exe)?\s[^\n;|&]{0,60}-(?:urlcache|decode\w{0,3}|verifyctl)\b${rest}|\bmsiexec(?:\.exe)?\s[^\n;|&]{0,60}https?:${rest}|\bregsvr32(?:\.exe)?\s[^\n;|&]{0,60}https?:${rest}|\bimewdbl\w{0,4}\b${rest}|\bdesktopimgdownldr${rest}`,
    ),
  },
  {
    kind: 'runs_hidden_code',
    value: 5,
    pattern: any(
      raw`\bpowershell(?:\.exe)?\s[^\n;|&]{0,80}-e(?:nc?|ncodedcommand)?\s+[a-z0-9+/]{20,}|\bfrombase64string\([^\n]{0,160}(?:iex|invoke-expression|assembly\]?::load|invoke)\b[^\n]{0,60}|\bpowershell(?:\.exe)?\s[^\n;|&]{0,60}-w(?:indowstyle)?\s+hidden\b${rest}`,
      raw`\b(?:virtualalloc|createthread|writeprocessmemory|reflectiveloader|shellcode)\b${rest}`,
    ),
  },
  {
    kind: 'watches_people',
    value: 4,
    pattern: any(
      raw`\b(?:getasynckeystate|setwindowshookex|copyfromscreen|get-clipboard\s[^\n;]{0,40}(?:out-file|>>|add-content)|psr\.exe|get-keystrokes)\b${rest}`,
    ),
  },
]

import { gateSource, type GatedPattern } from '../gate/gated-pattern.ts'

/** A topic of harmful content and its words. Patterns run on folded text. */
interface HarmTopic {
  name: string
  pattern: GatedPattern
}

const anyOf = (words: string) =>
  gateSource(
    `\\b(?:${words
      .trim()
      .split(/\s*\|\s*/)
      .join('|')})\\b`,
  )

/**
 * A feature of the model besides words and their parts: which topics a text has words of. None convicts
 * alone; weights are learned. The words are offensive because they are what is looked for.
 */
export const harmTopics: readonly HarmTopic[] = [
  {
    name: 'sexual_acts',
    pattern: anyOf(
      `porn\\w*|porno|xxx|hentai|doujin\\w*|blow ?jobs?|hand ?jobs?|cum|cums|cumming|cumshots?|spunk|cocks?|dicks?|penis|pussy|pussies|vagina\\w*|clit\\w*|tits?|titties|boobs?|nipples?|
      asshole|anal|oral sex|orgasms?|orgies|orgy|horny|masturbat\\w*|jerk(?:ing|ed)? off|fuck me|fuck(?:ed|ing)? (?:her|him|you|hard)|gangbang\\w*|threesomes?|milfs?|bdsm|dildos?|
      strippers?|stripping|naked|nudes?|nudity|erotic\\w*|erection|hard-?on|slutty|whores?|hookers?|escorts?|prostitut\\w*|putas?|follan\\w*|fuck buddy|creampie|fetish\\w*|
      thrust(?:ing|ed|s)?|moan(?:ing|ed|s)?|suck(?:ing|ed|s)? (?:my|his|her|on)|lick(?:ing|ed|s)? (?:my|his|her)|sex (?:tape|video|cam|chat|with)|seduc\\w+|camgirls?|webcam|mofos|incest\\w*`,
    ),
  },
  {
    name: 'minors',
    pattern: anyOf(
      `under ?age\\w*|minors?|teens?|teenage\\w*|school ?girls?|school ?boys?|little (?:girl|boy)s?|young (?:girl|boy)s?|loli\\w*|shota\\w*|pedo\\w*|paedo\\w*|preteens?|child(?:ren)? porn\\w*|
      jailbait|toddlers?|daddy|step ?(?:sister|brother|daughter|dad|mom)|1[0-7] ?(?:years?|yo|yrs?)[- ]?(?:old)?`,
    ),
  },
  {
    name: 'slurs',
    pattern: anyOf(
      `nigg\\w+|negro(?:e?s|id)?|fag(?:s|got\\w*)?|kikes?|yids?|jewboys?|jewgirls?|trann(?:y|ies)|dykes?|retard(?:s|ed)?|chinks?|gooks?|spics?|wetbacks?|beaners?|rag ?heads?|towel ?heads?|sand ?n\\w+|
      coons?|darkies|gyp+[os]\\w*|pak[iy]s?|muzzies?|muzrat\\w*|moslems?|shit ?skins?|libtard\\w*|feminazi\\w*|sluts?|bitch(?:es)?|cunts?|whore|twats?|hoes|thots?|incels?|cucks?|soy ?boys?|
      untermensch\\w*|sub ?humans?|savages|cockroach(?:es)?|vermin|parasites?|plague|degenerat\\w+|mongrels?|race traitors?|invaders|apes?|monkeys|filthy|scum|trash people`,
    ),
  },
  {
    name: 'supremacy',
    pattern: anyOf(
      `aryans?|white (?:power|pride|race|genocide|nation\\w*|suprem\\w*|civili[sz]ation)|1488|14 ?words|heil|sieg|hitler|nazis?|nazism|fuhrer|holocaust|gas chambers?|kkk|klan|jewish (?:question|race|lies|power|plague)|zog|
      zionis\\w+|goy\\w*|race (?:war|mixing)|replacement|remigrat\\w*|ethnic cleansing|eugenic\\w*|master race|inferior (?:race|people)|master|ubermensch|jihad\\w*|infidels?|kafirs?|kuffar|apostates?|caliphate`,
    ),
  },
  {
    name: 'groups',
    pattern: anyOf(
      `jews?|jewish|muslims?|islam\\w*|christians?|catholics?|hindus?|arabs?|africans?|blacks?|black (?:people|men|women)|whites?|white (?:people|men|women)|asians?|mexicans?|latinos?|immigrants?|migrants?|refugees?|
      gays?|lesbians?|homosexuals?|transgender\\w*|trans (?:people|women|men)|women|females?|men are|gypsies|roma|indians?|chinese|russians?|ukrainians?|palestinians?|israelis?|liberals|leftists|feminists?|disabled|fat people|elderly`,
    ),
  },
  {
    name: 'contempt',
    pattern: anyOf(
      `hate (?:them|you|these|all|every)|disgust\\w*|stupid|idiots?|moron\\w*|dumb|worthless|inferior|ugly|lazy|dirty|evil|criminals?|rapists?|terrorists?|should (?:be|all|not be|never)|deserve\\w*|get rid of|deport\\w*|
      go back|don't belong|do not belong|ban (?:all|them)|not (?:human|people)|all of them|every one of them|exterminat\\w*|eradicat\\w*|liquidat\\w*|wipe (?:them )?out|purge|cleanse|lynch\\w*|shut up|piece of shit|go to hell`,
    ),
  },
  {
    name: 'violence',
    pattern: anyOf(
      `kill(?:s|ed|ing|er)?|murder\\w*|shoot(?:ing)?|shot|stab(?:s|bed|bing)?|behead\\w*|decapitat\\w*|slaughter\\w*|massacre\\w*|rap(?:e|es|ed|ing)|tortur\\w*|execut(?:e|ed|ion|ions)|hang(?:ed|ing)?|burn(?:ed|t|ing)? alive|strangl\\w*|
      chok(?:e|ed|ing)|beat(?:en|ing)? (?:him|her|them|up)|blood(?:y|ied)?|gore|guts|corpses?|dead bod(?:y|ies)|dismember\\w*|mutilat\\w*|skull|limbs?|severed|genocide|bomb(?:s|ed|ing|ings)?|explosives?|guns?|knife|knives|attack(?:s|ed)?|assassinat\\w*`,
    ),
  },
  {
    name: 'threats',
    pattern: anyOf(
      `(?:i|we|i'll|we'll|gonna|going to|will|wanna|want to|let's|must|should) (?:\\w+ ){0,2}(?:kill|murder|shoot|stab|hurt|beat|rape|burn|bomb|hunt|destroy|hang|slaughter|execute|gas) (?:you|him|her|them|all|every|those|these|the|my|your|people|someone|somebody|a)|
      you(?:'re| are| will|'ll)? (?:\\w+ ){0,3}(?:die|dead|pay for|regret|suffer)|kill (?:them|all|yourself|urself)|kys|watch your back|i know where you live|hope (?:you|he|she|they) (?:die|dies|suffer)`,
    ),
  },
  {
    name: 'self_harm',
    pattern: anyOf(
      `suicid\\w*|kill(?:ing)? (?:myself|yourself|himself|herself)|self[- ]?harm\\w*|cut(?:ting|s)? (?:myself|my (?:arms?|wrists?|thighs?|legs?))|(?:my|new|fresh|deep) cuts|end(?:ing)? (?:my|it|my own) (?:life|all)|end it all|want(?:ed)? to die|wanna die|
      don't want to (?:live|be alive|wake up)|better off dead|no reason to live|overdos\\w*|hang myself|jump(?:ing)? off|slit\\w*|shtwt|edtwt|pro ?ana|thinspo\\w*|anorexi\\w*|bulimi\\w*|starv(?:e|ing) myself|purging|razor ?blades?|beans|styro|sutures?|hate myself|noose|relapsed?`,
    ),
  },
  {
    name: 'crime',
    pattern: anyOf(
      `bombs?|explosives?|pipe ?bomb|molotov|grenades?|thermite|napalm|meth(?:amphetamine)?|cocaine|heroin|fentanyl|lsd|mdma|ecstasy|hack(?:s|ed|ing)? (?:into|someone|a|my)|phishing|malware|ransomware|keylogg\\w*|trojan|virus|ddos|botnet|sql injection|
      steal(?:ing)?|rob(?:bing|bery)?|burglar\\w*|shoplift\\w*|launder\\w*|counterfeit\\w*|forg(?:e|ed|ing)|fake (?:id|ids|passports?|news|reviews?)|credit card (?:numbers?|fraud|details)|identity theft|scam\\w*|fraud\\w*|blackmail\\w*|extort\\w*|brib(?:e|es|ing)|smuggl\\w*|traffick\\w*|
      poison(?:s|ed|ing)?|sarin|ricin|anthrax|cyanide|nerve agent|weapons?|silencers?|ghost guns?|stalk(?:ing|er)?|track (?:my|her|his|someone)|spy(?:ing|ware)?|without (?:her|his|their|getting) (?:knowledge|consent|caught|knowing)|undetected|illegal(?:ly)?|dark ?web|lock ?pick\\w*|revenge porn|groom(?:ing)?|manipulat\\w*`,
    ),
  },
  {
    name: 'misuse',
    pattern: anyOf(
      `abus(?:e|es|ed|ing|ive)|exploit\\w*|evad(?:e|es|ing)|evasion|deceiv\\w*|trick(?:s|ing)?|cheat\\w*|sabotag\\w*|vandal\\w*|harass\\w*|(?:cyber)?bull(?:y|ying)|discriminat\\w*|racis[tm]\\w*|sexis[tm]\\w*|hatred|hateful|
      propaganda|disinformation|misinformation|conspirac\\w*|hoax\\w*|dox+(?:x?ing|ed)?|unauthori[sz]ed|illicit\\w*|crimes?|victims?|threat(?:s|en\\w*)|coerc\\w*|intimidat\\w*|impersonat\\w*|plagiari\\w*|pirat(?:e|ed|ing)|bypass\\w*|
      hijack\\w*|spam\\w*|breach\\w*|drugs?|addict\\w*|humiliat\\w*|terroris\\w*|radicali[sz]\\w*|extremis\\w*|riots?|violen\\w*|harm(?:s|ed|ful|ing)?|destroy\\w*|destruct\\w*|defam\\w*|slander\\w*|nude|obscen\\w*|deepfakes?|
      exfiltrat\\w*|worm|backdoors?|rootkits?|spyware|crack(?:s|ing)? (?:a |the )?passwords?|steal|stolen|theft|thie(?:f|ves)|launder|tamper\\w*|falsif\\w*|misleading|manipulative|unethical\\w*|secretly|kidnap\\w*|ransom|hostages?`,
    ),
  },
]

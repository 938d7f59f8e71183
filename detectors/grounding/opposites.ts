/** Words of opposite meaning, in groups: each word of one side is opposite to each of the other. */
const groups = `
increas increase rise rose risen grow grew growth gain climb up higher raise expand boost improve improv surge jump / decreas decrease decline fall fell fallen drop shrink lose loss down lower reduce reduc cut worsen plunge slump shrank
above over exceed beyond more greater larger most majority / below under less fewer smaller least minority
include inclusive / exclude exclusive except
within inside internal / outside external
before prior previous earlier past former last preced / after following later future next subsequent
early begin began start open launch introduc / late end ended finish close stop discontinu cancel suspend
profit income earning profitable / loss expense deficit unprofitable
revenue sale / cost
buy bought purchas acquire acquir / sell sold divest
win won victory succeed success successful / lose lost defeat fail failure unsuccessful
accept approv agree support allow permit allowed permitt welcome favor / reject refus disagree oppos deny deni prohibit forbid forbidden ban banned disallow decline against
possible able can likely probable / impossible unable cannot unlikely improbable
strong stronger robust solid / weak weaker fragile
easy simple easier / difficult hard challeng harder complex
positive optimistic good better best / negative pessimistic bad worse worst poor
same unchanged similar stable identical flat constant / different changed dissimilar volatil chang
first / last second third
short shorter short-term / long longer long-term
new newer newly recent / old older
high / low
large big huge significant major substantial / small little tiny insignificant minor slight negligible
many all every everyone always both / few none no nobody never neither
love like enjoy prefer / hate dislike detest
present attend arrive arriv enter join / absent miss depart leave left exit
male man men boy husband father son brother he his / female woman women girl wife mother daughter sister she her
north northern / south southern
east eastern / west western
public / private
domestic national local / foreign international global
remain stay retain keep maintain / change replac remov abandon
true correct right accurate / false incorrect wrong inaccurate
safe safely / dangerous unsafe risky
alive live surviv born / dead die died kill death
guilty convict / innocent acquit
free / paid imprison
hire employ appoint / fire dismiss resign
fast quick quickly rapid rapidly / slow slowly gradual
full / empty partial
million / billion thousand
thousand / million
day / week month year
week / month year
month / year
morning / evening night afternoon
net / gross total
temporary / permanent
voluntary optional / mandatory compulsory required require
direct / indirect
active / passive inactive
happy glad pleas / sad unhappy angry
hot warm / cold cool
add / subtract remov
rich wealthy / poor
agree / disagree
known famous popular / unknown obscure unpopular`

const stemOf = new Map<string, Set<string>>()
for (const line of groups.trim().split('\n')) {
  const [one = [], other = []] = line.split(' / ').map((side) => side.trim().split(/\s+/))
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const)
    for (const word of from) stemOf.set(word, new Set([...(stemOf.get(word) ?? []), ...to]))
}

/** Words that say the opposite of a stem of `measure-support.ts`; none for most. */
export function oppositesOf(stem: string): ReadonlySet<string> | undefined {
  return stemOf.get(stem)
}

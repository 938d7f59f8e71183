import { findMatches } from '../find-matches.ts'

/** Words of tasks and of English, which any two texts share. */
const common = new Set(
  (
    'about above after again against also been before being between both cannot could does doing down during each from ' +
    'further have having here hers into itself just know like made make many more most much must need only other over ' +
    'please same should some such than that their them then there these they this those through under until upon very ' +
    'want were what when where which while will with without would your yours write draft compose create generate ' +
    'provide explain describe translate convert calculate compute determine classify summarize summarise list suggest ' +
    'recommend analyze analyse compare define solve find outline discuss evaluate help show tell give teach three four ' +
    'five using used main following given'
  ).split(' '),
)
const word = /[a-z]{4,}/g
const stemUnits = 5

/** The beginnings of a text's content words: "exercise", "exercises" and "exercising" are one. */
export function wordStems(text: string): Set<string> {
  const words = findMatches(text.toLowerCase(), word).map(([found]) => found)
  return new Set(words.filter((found) => !common.has(found)).map((found) => found.slice(0, stemUnits)))
}

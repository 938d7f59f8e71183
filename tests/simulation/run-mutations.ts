import { availableParallelism } from 'node:os'
import { catchMutation } from './mutations/catch-mutation.ts'
import { mutations } from './mutations/mutations.ts'

// Puts every mistake in, one after the other, and says which seed finds it. Those named on the command line, or all.
const asked = process.argv.slice(2)
const names = asked.length > 0 ? asked : Object.keys(mutations)
const work = async () => {
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const { isCaught, said } = await catchMutation(name)
    console.log(`${isCaught ? 'caught' : 'MISSED'} ${name}\n${said}`)
    if (!isCaught) process.exitCode = 1
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work))

import { availableParallelism } from 'node:os'
import { catchMutation } from './mutations/catch-mutation.ts'
import { mutations } from './mutations/mutations.ts'

// Applies every mutation, or those named as arguments, and prints which seed catches it.
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

import { AsyncLocalStorage } from 'node:async_hooks'

/** The path of the route whose handler is at work, for what is logged deep below it. */
export const currentRoute = new AsyncLocalStorage<string>()

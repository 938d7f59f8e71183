import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Clock } from './clock.ts'
import { codeOf } from './errors.ts'
import { watchThread, type ThreadLimits } from './watch-thread.ts'

/** `too_slow`: a limit was reached, of time or of memory. `failed`: the program threw. */
export type TaskFault = 'too_slow' | 'failed'

export type TaskAnswer = { value: unknown } | { fault: TaskFault }

/** Threads that answer one message with one message, one at a time. Each is replaced after a fault. */
export interface TaskThreads<Task> {
  /** Never rejects. Waits until a thread is free. */
  run(task: Task): Promise<TaskAnswer>
  stop(): Promise<void>
}

interface TaskThreadsOptions {
  /** The threads' program. */
  program: URL
  threads: number
  /** Of each task, once it has a thread. */
  limits: ThreadLimits
  maxHeapMb: number
  clock: Clock
  onError: (error: unknown) => void
}

export function createTaskThreads<Task>(options: TaskThreadsOptions): TaskThreads<Task> {
  // Created with the first task: most processes never have one.
  const idle: (Worker | undefined)[] = Array.from({ length: options.threads }, () => undefined)
  const waiting: ((worker: Worker | undefined) => void)[] = []
  const acquire = async () =>
    idle.length > 0 ? idle.pop() : new Promise<Worker | undefined>((resolve) => waiting.push(resolve))
  const release = (worker: Worker | undefined) => {
    const next = waiting.shift()
    if (next === undefined) idle.push(worker)
    else next(worker)
  }
  return {
    async run(task) {
      const kept = await acquire()
      let worker: Worker | undefined
      try {
        worker = kept === undefined || kept.threadId < 0 ? startThread(options) : kept
        const answer = await answerOf({ worker, isNew: worker !== kept }, task, options)
        if ('fault' in answer) {
          await worker.terminate()
          worker = undefined
        }
        return answer
      } finally {
        release(worker)
      }
    },
    async stop() {
      const ended = idle.splice(0, idle.length, undefined).filter((worker) => worker !== undefined)
      await Promise.all(ended.map((worker) => worker.terminate()))
    },
  }
}

function startThread({ program, maxHeapMb }: TaskThreadsOptions): Worker {
  const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } })
  // An idle thread does not keep its process running.
  worker.unref()
  // Between tasks its end is no news: the next task starts another.
  worker.on('error', () => undefined)
  return worker
}

async function answerOf(
  { worker, isNew }: { worker: Worker; isNew: boolean },
  task: unknown,
  { limits, clock, onError }: TaskThreadsOptions,
): Promise<TaskAnswer> {
  const answer = Promise.withResolvers<TaskAnswer>()
  const over = new AbortController()
  const settle = (settled: TaskAnswer) => {
    over.abort()
    answer.resolve(settled)
  }
  const fail = (error: unknown) => {
    if (over.signal.aborted) return
    const isTooLarge = codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
    if (!isTooLarge) onError(error)
    settle({ fault: isTooLarge ? 'too_slow' : 'failed' })
  }
  const onMessage = (value: unknown) => settle({ value })
  const onExit = (code: number) => fail(new Error(`a thread ended by itself, with ${code}`))
  worker.once('message', onMessage).once('error', fail).once('exit', onExit)
  const begin = async () => {
    worker.postMessage(task)
    if (isNew) await once(worker, 'online', { signal: over.signal })
    const { user, system } = await worker.cpuUsage()
    const begun = { thread: { cpuUsage: () => worker.cpuUsage() }, beganUs: user + system }
    const exceeded = await watchThread(Promise.resolve(begun), limits, clock, over.signal)
    if (exceeded !== undefined) settle({ fault: 'too_slow' })
  }
  begin().catch(fail)
  try {
    return await answer.promise
  } finally {
    worker.off('message', onMessage).off('error', fail).off('exit', onExit)
  }
}

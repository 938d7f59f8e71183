import { findingMutations } from './finding-mutations.ts'
import type { Mutation } from './mutation.ts'

/** The simulation catches each of these (simulation.test.ts). Named by the part that they are in. */
export const mutations: Readonly<Record<string, Mutation>> = {
  'runtime-commits-before-work': {
    file: 'runtime/kafka/batch-consumer.ts',
    find: 'await this.#finishChunk(chunk, assigned, first, last + 1n, signal)',
    replace: 'void this.#finishChunk(chunk, assigned, first, last + 1n, signal).catch(() => undefined)',
  },
  'runtime-moves-before-dead-letter': {
    file: 'runtime/kafka/handle-chunk.ts',
    find: 'await retryTransient(() => sendDeadLetters(letters), {',
    replace: 'void retryTransient(() => sendDeadLetters(letters), {',
  },
  'runtime-commits-the-highest-finished': {
    file: 'runtime/kafka/offset-ledger.ts',
    find: 'if (entry === undefined) return\n',
    replace:
      'if (entry === undefined) return\n      while (inOrder.head && inOrder.head !== entry) inOrder.take()\n',
  },
  'runtime-moves-before-the-group-ends': {
    file: 'runtime/kafka/handle-together.ts',
    find: 'await handler(records, handBack, end)',
    replace: 'void handler(records, () => undefined, () => undefined).catch(() => undefined)',
  },
  'runtime-forgets-what-a-group-could-not-do': {
    file: 'runtime/kafka/handle-together.ts',
    find: 'records.forEach((_record, index) => handBack(index))\n',
    replace: '\n',
  },
  'runtime-blames-whoever-was-marked': {
    file: 'runtime/kafka/batch-consumer.ts',
    find: 'if (chunk.tries !== MAX_TRIES) return work()',
    replace: 'if (chunk.tries !== 99) return work()',
  },
  'runtime-asks-for-marks-of-lost-partitions': {
    file: 'runtime/kafka/parallel-consumer.ts',
    find: '.filter(({ assigned }) => this.member.isCurrent(assigned))',
    replace: '',
  },
  'runtime-takes-what-it-cannot-read-for-due': {
    file: 'runtime/kafka/due-times.ts',
    find: "if (error instanceof SluiceError && error.retry === 'later')",
    replace: 'if (head.dueMs === null)',
  },
  'sink-forgets-jobs-of-what-is-delivered-again': {
    file: 'services/sink/steps/decide-dispositions.ts',
    find: "offset < positionBefore ? 'redelivered' : 'resent'",
    replace: "'resent'",
  },
  'sink-does-not-wait-for-jobs': {
    file: 'services/sink/handle-calls.ts',
    find: 'await publishJobs(',
    replace: 'void Promise.resolve().then(() => 0), void publishJobs(',
  },
  'sink-swallows-a-store-error': {
    file: 'services/sink/handle-scores.ts',
    find: 'await scores.store(placed, partition, (added) => threatsOf(added, traceOf))',
    replace:
      'await scores.store(placed, partition, (added) => threatsOf(added, traceOf)).catch(() => ({ added: [], missed: 0, eventCount: 0, overflowCount: 0 }))',
  },
  'relay-does-not-wait-for-the-broker': {
    file: 'services/sink/upkeep/relay-events.ts',
    find: 'await publishEach(publishEvents, events, publishCurtailed)',
    replace: 'void publishEach(publishEvents, events, publishCurtailed).catch(() => undefined)',
  },
  'relay-makes-an-id-per-attempt': {
    file: 'services/sink/publish-records.ts',
    find: 'events,\n      (event) => event.project_id,',
    replace:
      'events.map((event) => ({ ...event, id: `evt_${event.id.slice(4, -9)}${String(Math.random()).slice(2, 11).padEnd(9, "0")}` })),\n      (event) => event.project_id,',
  },
  'scorer-makes-an-id-per-attempt': {
    file: 'services/scorer/steps/make-scored-call.ts',
    find: 'const id = scoreId(job.project_id, job.request_id, named.scorer, job.run_id)',
    replace:
      'const id = scoreId(job.project_id, job.request_id, `${named.scorer}${Math.random()}`, job.run_id)',
  },
  'scorer-does-not-wait-for-the-broker': {
    file: 'services/scorer/handler.ts',
    find: 'await publish(makeScoredCall(',
    replace: 'void Promise.resolve().then(() => 0), void publish(makeScoredCall(',
  },
  'scorer-hands-over-without-the-broker': {
    file: 'services/scorer/handler.ts',
    find: 'await queues.handOver(job, trace)',
    replace: 'void queues.handOver(job, trace).catch(() => undefined)',
  },
  'scorer-tries-later-without-the-broker': {
    file: 'services/scorer/handler.ts',
    find: 'await queues.tryLater(job, queue, trace)',
    replace: 'void queues.tryLater(job, queue, trace).catch(() => undefined)',
  },
  'fan-out-publishes-before-it-stores': {
    file: 'services/notifier/delivery/hand-over.ts',
    find: 'await deliveries.insert(chunk)\n',
    replace: 'void deliveries.insert(chunk).catch(() => undefined)\n',
  },
  'fan-out-passes-what-is-not-yet-waiting': {
    file: 'services/notifier/delivery/hand-over.ts',
    find: 'if (await insertWaiting(delivery)) metrics.waiting.inc(',
    replace:
      'void insertWaiting(delivery).catch(() => undefined)\n      if (Date.now() > 0) metrics.waiting.inc(',
  },
  'notifier-forgets-its-claim': {
    file: 'services/notifier/delivery/attempt-due.ts',
    find: "if (answer.kind === 'leased') return answer\n",
    replace: '',
  },
  'fan-out-makes-what-somebody-has-begun': {
    file: 'services/notifier/delivery/begin-deliveries.ts',
    find: 'answer === true',
    replace: 'true',
  },
  'fan-out-does-not-wait-for-attempts': {
    file: 'services/notifier/delivery/deliver-first.ts',
    find: 'const end = await beginOne(',
    replace: "const end = 'made'\n      void beginOne(",
  },
  'fan-out-does-not-ask-for-what-somebody-has-begun': {
    file: 'services/notifier/delivery/deliver-first.ts',
    find: "if (end === 'not_ours') await handOver.publish(delivery)\n",
    replace: '\n',
  },
  'fan-out-keeps-what-it-could-not-begin': {
    file: 'services/notifier/delivery/begin-deliveries.ts',
    find: "onEnd(attempt, Error.isError(answer) ? answer : 'not_ours')",
    replace: "onEnd(attempt, 'made')",
  },
  'fan-out-ends-with-the-first-delivery': {
    file: 'services/notifier/delivery/fan-out-group.ts',
    find: 'if (others === 0) (failed',
    replace: ';(failed',
  },
  'attempts-keep-what-they-could-not-write': {
    file: 'services/notifier/delivery/run-attempts.ts',
    find: 'onEnd(attempt, errors[index] ?? undefined)',
    replace: 'onEnd(attempt)',
  },
  'attempts-send-what-was-not-written-again': {
    file: 'services/notifier/delivery/write-ends.ts',
    find: 'for (const { attempt, result } of group) unwritten.add(',
    replace: 'for (const { attempt, result } of group.slice(group.length)) unwritten.add(',
  },
  'attempts-forget-failures': {
    file: 'services/notifier/delivery/write-ends.ts',
    find: 'if (error !== null) await follow(',
    replace: 'if (error === undefined) await follow(',
  },
  'attempts-keep-what-could-not-follow': {
    file: 'services/notifier/delivery/write-ends.ts',
    find: 'return group.map(() => asError(error))',
    replace: 'return group.map(() => null)',
  },
  'attempts-are-not-set-aside-when-slow': {
    file: 'services/notifier/delivery/run-attempts.ts',
    find: 'asker.onSlow(attempt.delivery, written)',
    replace: '(void asker.onSlow(attempt.delivery, written).catch(() => undefined), Promise.resolve())',
  },
  'attempts-forget-slow-ones': {
    file: 'services/notifier/delivery/run-attempts.ts',
    find: 'for (const { attempt, ending } of batch.detach()) {',
    replace:
      'for (const { attempt } of batch.detach()) onEnd(attempt)\n    for (const { attempt, ending } of []) {',
  },
  'notifier-sends-what-was-not-written-again': {
    file: 'services/notifier/delivery/unwritten-attempts.ts',
    find: 'find: (name) => attempts.get(name)?.attempt,',
    replace: 'find: () => undefined,',
  },
  'notifier-forgets-what-follows-a-failure': {
    file: 'services/notifier/delivery/attempt-due.ts',
    find: "if (answer.kind === 'failed_before') {\n      await follow(delivery, answer)\n",
    replace: "if (answer.kind === 'failed_before') {\n",
  },
  'notifier-shortens-the-delay': {
    file: 'services/notifier/steps/plan-next.ts',
    find: 'due_at: failedAtMs + delayMs + 1',
    replace: 'due_at: failedAtMs',
  },
  'ingest-answers-before-the-broker': {
    file: 'services/ingest/log-calls.ts',
    find: 'await send(call, { ...bodies, preview: read.preview }, span?.parentFor(traceContextOf(read.fields)))',
    replace: 'void send(call, { ...bodies, preview: read.preview }).catch(() => undefined)',
  },
  'ingest-takes-what-is-over-quota': {
    file: 'services/ingest/log-calls.ts',
    find: 'if (admission !== undefined && !admission.admitted.has(id))',
    replace: 'if (admission !== undefined && admission.limit === 0)',
  },
  ...findingMutations,
}

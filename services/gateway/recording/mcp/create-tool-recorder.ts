import type { Recorder, RecorderDependencies } from '../recorder.ts'
import type { FinishedCall } from '../build-record.ts'
import { createNewDefinitions } from './new-definitions.ts'
import { toolRecordsOf } from './tool-exchange.ts'

/** Records what agents do with MCP servers; calls of models go to `recorder` as they are. */
export function createToolRecorder(
  recorder: Recorder,
  { maxBodyBytes, metrics, log }: Pick<RecorderDependencies, 'maxBodyBytes' | 'metrics' | 'log'>,
): Recorder {
  const newDefinitions = createNewDefinitions()
  const recordTools = async (call: FinishedCall, release: () => void) => {
    try {
      const records = await toolRecordsOf(call, maxBodyBytes, newDefinitions)
      await Promise.all(records.map((record) => recorder(record, () => undefined)))
    } catch (error) {
      metrics.lost('defect', 1)
      log.error({ err: error, request_id: call.id }, 'no record could be made of a tool call')
    } finally {
      release()
    }
  }
  return (call, release) =>
    call.upstream.kind === 'mcp' ? recordTools(call, release) : recorder(call, release)
}

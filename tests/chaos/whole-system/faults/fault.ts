import type { FaultShape } from '../schedule/plan-faults.ts'
import type { Stage } from '../stage/start-stage.ts'

export type Undo = () => Promise<void> | void

export interface Fault extends FaultShape {
  /** Strikes. The function is its inverse: it resolves when what was struck works again. */
  begin(stage: Stage, target: string): Promise<Undo>
}

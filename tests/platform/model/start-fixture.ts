import { setScorerFixture, type ScorerFixture } from '#services/scorer/testing/scorer-fixture.ts'
import type { PlatformContext } from '../platform-part.ts'
import { startInfrastructure } from '../start-infrastructure.ts'

/** Kafka, the registry and Postgres for a scorer, as its integration tests have them. */
export async function startFixture(context: PlatformContext, directory: string): Promise<ScorerFixture> {
  await startInfrastructure(context, directory)
  const fixture = await setScorerFixture()
  context.undo.push(() => fixture.close())
  return fixture
}

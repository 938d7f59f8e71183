import pg from 'pg'

/** A pool that breaks a connection at its n-th statement, counted from 1. */
export class BreakingPool extends pg.Pool {
  readonly #breakAt: number
  #asked = 0

  constructor(connectionString: string, breakAt: number) {
    super({ connectionString, max: 1 })
    this.#breakAt = breakAt
  }

  get isBroken(): boolean {
    return this.#asked >= this.#breakAt
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Parameters<pg.Pool['connect']>[0]): void
  override connect(callback?: Parameters<pg.Pool['connect']>[0]): unknown {
    if (callback === undefined) return super.connect().then((client) => this.#watch(client))
    // `Pool.query` connects with a callback: what it asks belongs to no transaction.
    super.connect(callback)
    return undefined
  }

  #watch(client: pg.PoolClient): pg.PoolClient {
    // The statement that is under way rejects with the same error.
    client.on('error', () => undefined)
    const ask = client.query.bind(client) as (...args: unknown[]) => unknown
    const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
    const watched = (...args: unknown[]) => {
      this.#asked++
      if (this.#asked === this.#breakAt) connection.stream.destroy()
      return ask(...args)
    }
    client.query = watched as pg.PoolClient['query']
    return client
  }
}

/**
 * Memory that a body's chunk takes besides its bytes: Node makes a buffer for each HTTP chunk, and 300,000 of
 * one byte took 520 to 630 B each (Node 24). Every bound on buffered bodies charges it, or a client could
 * exceed the bound by sending a few bytes at a time.
 */
export const chunkOverheadBytes = 640

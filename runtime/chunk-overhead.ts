/**
 * What a chunk of a body takes of memory besides its bytes: Node makes a buffer of each HTTP chunk, and 300,000 of one byte took 520 to 630 B
 * each (Node 24). Whatever bounds bodies that are held in chunks charges it, or a client bounds nothing by sending few bytes at a time.
 */
export const chunkOverheadBytes = 640

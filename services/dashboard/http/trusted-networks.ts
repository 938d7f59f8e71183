import express from 'express'

/** Whether express accepts it for `trust proxy`: an address, a network, or a name for some. */
export function isNetwork(text: string): boolean {
  try {
    express().set('trust proxy', [text])
    return true
  } catch {
    return false
  }
}

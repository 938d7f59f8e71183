import express from 'express'

/** Whether express takes it for `trust proxy`: an address, a network, or a name that it has for some. */
export function isNetwork(text: string): boolean {
  try {
    express().set('trust proxy', [text])
    return true
  } catch {
    return false
  }
}

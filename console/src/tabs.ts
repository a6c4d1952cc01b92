// How the tabs of this browser talk to each other. In a browser without `BroadcastChannel`, and in frames, they know nothing of each other.

import { isFramed } from './base.ts'

export interface Tabs<T> {
  readonly isOpen: boolean
  post(message: T): void
  listen(listener: (message: T) => void): void
  close(): void
}

/** Tabs that use the same name hear each other. */
export function openTabs<T>(name: string): Tabs<T> {
  if (typeof BroadcastChannel === 'undefined' || isFramed) {
    return { isOpen: false, post() {}, listen() {}, close() {} }
  }
  const channel = new BroadcastChannel(name)
  let isClosed = false
  return {
    isOpen: true,
    // Whoever hears a message first may close the page's part before the other tabs are told.
    post(message) {
      if (!isClosed) channel.postMessage(message)
    },
    listen(listener) {
      channel.onmessage = ({ data }: MessageEvent<T>) => listener(data)
    },
    close() {
      isClosed = true
      channel.close()
    },
  }
}

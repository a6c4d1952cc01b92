import { useSyncExternalStore } from 'react'

/** A value that changes outside of React, and those who want to hear of it. */
export function createObserved<T>(first: T) {
  let value = first
  const listeners = new Set<() => void>()
  return {
    current: (): T => value,
    set(next: T): void {
      value = next
      for (const listener of listeners) listener()
    },
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export const useObserved = <T>({
  subscribe,
  current,
}: Pick<ReturnType<typeof createObserved<T>>, 'subscribe' | 'current'>): T => useSyncExternalStore(subscribe, current)

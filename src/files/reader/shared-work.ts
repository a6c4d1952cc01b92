import type { Progress } from '../file-reader.ts'

type Work<T> = (signal: AbortSignal, tell: Progress) => Promise<T>

interface Ongoing<T> {
  result: Promise<T>
  controller: AbortController
  /** One entry for each caller that waits. */
  waiting: Set<{ onProgress: Progress | undefined }>
}

/** Does the same work only once when several callers ask for it. It goes on as long as one of them still waits. */
export function createSharedWork<T>() {
  const all = new Map<string, Ongoing<T>>()

  function begin(key: string, work: Work<T>): Ongoing<T> {
    const controller = new AbortController()
    const waiting: Ongoing<T>['waiting'] = new Set()
    const result = work(controller.signal, (done, total) => {
      for (const { onProgress } of waiting) onProgress?.(done, total)
    })
    const ongoing = { result, controller, waiting }
    all.set(key, ongoing)
    const forget = (): void => {
      if (all.get(key) === ongoing) all.delete(key)
    }
    result.then(forget, forget)
    controller.signal.addEventListener('abort', forget)
    return ongoing
  }

  return {
    /** Rejects with the reason of the signal as soon as it aborts. */
    join(key: string, work: Work<T>, signal: AbortSignal, onProgress?: Progress): Promise<T> {
      if (signal.aborted) return Promise.reject(signal.reason)
      const ongoing = all.get(key) ?? begin(key, work)
      const me = { onProgress }
      ongoing.waiting.add(me)
      return new Promise<T>((resolve, reject) => {
        const leave = (): void => {
          ongoing.waiting.delete(me)
          if (ongoing.waiting.size === 0) ongoing.controller.abort(signal.reason)
          reject(signal.reason)
        }
        signal.addEventListener('abort', leave)
        const stay = (): void => signal.removeEventListener('abort', leave)
        ongoing.result.then(resolve, reject).finally(stay)
      })
    },
  }
}
